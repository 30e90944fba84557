#include "results/report/readable_runs.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

// The problems by the folder's name.
std::string problem_of(const std::vector<FoundRun>& runs, const std::string& name) {
  for (const FoundRun& run : runs) {
    if (run.path.filename() == name) return run.summary ? "" : run.problem;
  }
  return "there is no such run";
}

struct Read {
  std::vector<FoundRun> runs;
  std::vector<std::string> seeds;  // of each row their number
};

class ReadableRunsTest : public WithFolder {
 protected:
  Read read() const {
    const auto count = [](const RowRuns&, const RowRounds& rounds) {
      return RowParts{.series = std::to_string(rounds.size()), .choices = {}};
    };
    auto [runs, rows] = readable_runs(find_runs(std::vector{folder_.path()}), count);
    Read read{std::move(runs), {}};
    for (RowParts& row : rows) read.seeds.push_back(std::move(row.series));
    return read;
  }
};

void replace(const std::filesystem::path& file, const std::string& before, const std::string& after) {
  put(file, replaced(test::content_of(file), before, after));
}

TEST_F(ReadableRunsTest, VisitsRowsInTheOrderOfTheTable) {
  write_run(folder_ / "a", "scaffold", 1, 0.8);
  write_run(folder_ / "b", "fedavg", 2, 0.5);
  write_run(folder_ / "c", "fedavg", 1, 0.5);
  const auto [runs, seeds] = read();
  EXPECT_THAT(seeds, ElementsAre("2", "1"));
  for (const FoundRun& run : runs) EXPECT_THAT(run.problem, IsEmpty());
}

TEST_F(ReadableRunsTest, NamesTheFileAndTheFieldAndKeepsTheRest) {
  for (const char* name : {"edited", "good", "short", "torn"}) write_run(folder_ / name, name, 1, 0.5);
  replace(folder_ / "edited" / kRoundsFile, "\"uplink_bytes\":", "\"uplink_byts\":");
  std::filesystem::resize_file(folder_ / "torn" / kRoundsFile,
                               std::filesystem::file_size(folder_ / "torn" / kRoundsFile) - 10);
  put(folder_ / "short" / kRoundsFile, "");
  const auto [runs, seeds] = read();
  EXPECT_THAT(seeds, ElementsAre("1"));
  EXPECT_THAT(problem_of(runs, "edited"), HasSubstr("rounds.jsonl:1: field \"uplink_bytes\" is missing"));
  EXPECT_THAT(problem_of(runs, "short"), HasSubstr("rounds.jsonl: holds 0 rounds; allowed: 8"));
  EXPECT_THAT(problem_of(runs, "torn"), HasSubstr("rounds.jsonl: holds 7 rounds; allowed: 8"));
  EXPECT_THAT(problem_of(runs, "good"), IsEmpty());
}

TEST_F(ReadableRunsTest, TakesALossThatIsNoNumberForItself) {
  write_run(folder_ / "a", "fedavg", 1, 0.5,
            {.summary = [](Summary& summary) { summary.final_test_loss = kNan; }});
  EXPECT_THAT(problem_of(read().runs, "a"), IsEmpty());
}

// Nobody knows which of them is wrong, and a mean over different things is none. What is wrong is said once.
TEST_F(ReadableRunsTest, RefusesARowWhoseRunsAreNotOne) {
  write_run(folder_ / "a", "fedavg", 1, 0.5);
  write_run(folder_ / "b", "fedavg", 2, 0.5, {.summary = [](Summary& summary) { summary.parameters = 7; }});
  write_run(folder_ / "c", "scaffold", 1, 0.5);
  for (const std::int64_t seed : {1, 2}) write_run(folder_ / fmt::format("d{}", seed), "fednova", seed, 0.5);
  write_run(folder_ / "e", "fednova", 1, 0.6);
  const auto [runs, seeds] = read();
  EXPECT_THAT(seeds, ElementsAre("1"));
  EXPECT_THAT(problem_of(runs, "a"), HasSubstr("parameters"));
  EXPECT_THAT(problem_of(runs, "c"), IsEmpty());
  EXPECT_THAT(problem_of(runs, "d1"), EndsWith("both hold seed 1 of \"fednova\""));
  const auto elsewhere = [&](const char* first) {
    return fmt::format("is in one row with {}, which says what is wrong", (folder_ / first).string());
  };
  EXPECT_EQ(problem_of(runs, "b"), elsewhere("a"));
  EXPECT_EQ(problem_of(runs, "d2"), elsewhere("d1"));
  EXPECT_EQ(problem_of(runs, "e"), elsewhere("d1"));
}

}  // namespace
}  // namespace fedarena::results
