// `fedarena report` and `fedarena table --format html`, from run directories alone.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::test {
namespace {

using results::write_run;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(ReportCommand, WritesOnePage) {
  const Scratch scratch;
  write_run(scratch / "runs/fedavg-seed-1", "fedavg", 1, 0.5);
  write_run(scratch / "runs/scaffold-seed-1", "scaffold", 1, 0.75);
  const Outcome outcome = run_program(scratch, {"report", "runs"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("^report.html: 2 runs, 2 rows of the table, [0-9]+ KiB\n$"));
  EXPECT_THAT(outcome.err, IsEmpty());
  const std::string page = content_of(scratch / "report.html");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">runs/scaffold-seed-1</th>"));
  ASSERT_EQ(run_program(scratch, {"report", "runs", "-o", "again.html"}).exit_code, 0);
  EXPECT_EQ(content_of(scratch / "again.html"), page);
}

TEST(ReportCommand, NamesWhatItCannotShow) {
  const Scratch scratch;
  write_run(scratch / "runs/fedavg-seed-1", "fedavg", 1, 0.5);
  write_run(scratch / "runs/fedavg-seed-2", "fedavg", 2, 0.5);
  scratch.write("runs/fedavg-seed-2/rounds.jsonl", "{}\n");
  const Outcome outcome = run_program(scratch, {"report", "runs"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("report.html: 2 runs, 1 row of the table, "));
  EXPECT_EQ(outcome.err,
            "note: runs/fedavg-seed-2: rounds.jsonl:1: field \"round\" is missing; the run is not shown\n");
}

TEST(ReportCommand, RefusesWithOneMessage) {
  const Scratch scratch;
  write_run(scratch / "runs/fedavg-seed-1", "fedavg", 1, 0.5);
  expect_golden("bad_reports.txt", refusals(scratch, {{"report"},
                                                      {"report", "nowhere"},
                                                      {"report", "runs/fedavg-seed-1/summary.json"},
                                                      {"report", "runs", "-o", "report.pdf"},
                                                      {"report", "runs", "-o", "missing/report.html"},
                                                      {"report", "runs", "--format", "pdf"}}));
  EXPECT_FALSE(std::filesystem::exists(scratch / "report.html"));
}

TEST(ReportCommand, TablesComeAsHtml) {
  const Scratch scratch;
  write_run(scratch / "runs/fedavg-seed-1", "fedavg", 1, 0.5);
  const Outcome outcome =
      run_program(scratch, {"table", "runs", "--format", "html", "--columns", "seeds,accuracy"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("<tr><th scope=\"row\">fedavg</th><td class=\"number\">1</td><td "
                                     "class=\"number\">50.00</td></tr>"));
}

}  // namespace
}  // namespace fedarena::test
