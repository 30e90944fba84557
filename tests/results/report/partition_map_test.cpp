#include <regex>

#include "results/report/report.hpp"
#include "results/report/sections.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

RecordedPartition federation(std::size_t clients, std::size_t classes) {
  RecordedPartition partition;
  partition.sizes.assign(clients, static_cast<std::int64_t>(classes));
  partition.class_counts.assign(clients, std::vector<std::int64_t>(classes, 1));
  return partition;
}

TEST(PartitionMap, OfFewClientsPrintsEachCountInItsPlace) {
  const std::string html = partition_map(three_clients());
  EXPECT_THAT(matches(html, ">([^<]*)</text>"),
              ElementsAre("class 0", "class 1", "0", "500", "500", "1", "1", "1000", "2", "0", "1002"));
  // Client 1 stands in the second column, its 1000 examples of class 1 in the second row.
  EXPECT_THAT(html, HasSubstr("<text x=\"119\" y=\"45\">1000</text>"));
  EXPECT_THAT(html, HasSubstr("M100 36h38v18h-38zM138 36h38v18h-38z"));  // 1000 and 1002 of class 1
  EXPECT_THAT(html, Not(HasSubstr("M138 18")));                          // none of class 0 at client 2
  EXPECT_THAT(html, has_all("aria-label=\"Examples of each class that each client holds: 3 clients, 2 "
                            "classes, up to 1002 examples\"",
                            "Seed 1: columns are 3 clients, rows are 2 classes, from class 0 at the top."));
}

// 500 of 1002 is half of the colour, rounded up to a sixteenth; numbers stand on a paler one.
TEST(PartitionMap, FullerColourIsMoreExamples) {
  EXPECT_THAT(matches(partition_map(three_clients()), "fill-opacity=\"([0-9.]*)\""),
              ElementsAre("0.034", "0.275", "0.550"));
  RecordedPartition many = federation(11, 2);
  many.class_counts[3] = {4, 0};
  EXPECT_THAT(matches(partition_map(many), "fill-opacity=\"([0-9.]*)\""), ElementsAre("0.250", "1.000"));
}

TEST(PartitionMap, OfManyDrawsAPartWithTheFirstAndTheLast) {
  RecordedPartition partition = federation(2000, 1000);
  partition.class_counts.front().front() = 5;
  partition.class_counts.back().back() = 5;
  const std::string html = partition_map(partition);
  EXPECT_THAT(html, HasSubstr("columns are 100 of 2000 clients, evenly chosen, rows are 100 of 1000 classes, "
                              "evenly chosen"));
  EXPECT_THAT(matches(html, "fill-opacity=\"1.000\" d=\"([^\"]*)\""),
              ElementsAre("M0 0h6v6h-6zM594 594h6v6h-6z"));
  EXPECT_LT(html.size(), 300'000U);
  EXPECT_THAT(html, Not(HasSubstr("<text")));
  EXPECT_THAT(partition_map(federation(100, 62)), HasSubstr("columns are 100 clients, rows are 62 classes"));
}

TEST(PartitionMap, BearsAnyCard) {
  EXPECT_EQ(partition_map(RecordedPartition()), "");
  RecordedPartition empty = federation(2, 2);
  empty.class_counts = {{0, 0}, {0, 0}};
  EXPECT_THAT(partition_map(empty), Not(HasSubstr("<path")));
  empty.class_counts = {{0, INT64_MAX}, {1, 0}};
  EXPECT_THAT(partition_map(empty), HasSubstr(">9223372036854775807</text>"));
}

class ReportedPartition : public testing::Test {
 protected:
  // A run of a seed, whose card is that of `three_clients` for this seed; an older one has none.
  std::filesystem::path run(const std::string& label, std::int64_t seed, bool older = false,
                            const RunChanges& changes = {}) {
    const auto path = write_run(scratch_ / fmt::format("{}-{}", label, seed), label, seed, 0.5, changes);
    if (older) return path;
    const RunDirectory directory = RunDirectory::open(path);
    RecordedPartition partition = three_clients();
    partition.seed = seed;
    partition.id = directory.summary().partition_id;
    partition.index_hash = directory.summary().partition_hash;
    record_partition(directory, partition);
    return path;
  }
  Report report() { return make_report(find_runs(std::vector{scratch_.path()})); }
  static std::size_t maps(const Report& report) {
    return matches(report.html, "(<figure class=\"map\">)").size();
  }

  Scratch scratch_;
};

TEST_F(ReportedPartition, HasOneMapForAllItsRuns) {
  run("fedavg", 1, true);
  for (const std::int64_t seed : {2, 3}) run("fedavg", seed);
  run("scaffold", 2);
  const Report made = report();
  EXPECT_THAT(made.problems, IsEmpty());
  EXPECT_EQ(maps(made), 1U);
  EXPECT_THAT(made.html, has_all("<figcaption>Seed 2: columns are 3 clients", ">1002</text>"));
  EXPECT_THAT(made.html, Not(HasSubstr("fedarena partition FILE")));
}

TEST_F(ReportedPartition, OfOlderRunsHasNoMap) {
  run("fedavg", 1, true);
  const Report made = report();
  EXPECT_THAT(made.problems, IsEmpty());
  EXPECT_EQ(maps(made), 0U);
  EXPECT_THAT(made.html, HasSubstr("fedarena partition FILE"));
}

// Also where another run of the same partition has no policy.
TEST_F(ReportedPartition, LeavesOutWhatAPolicyKeepsPrivate) {
  const auto hidden = [](bool declared) {
    return RunChanges{.summary = [declared](Summary& summary) {
      const Summary with_policy = finished_privately(summary.label, 1, 0.5);
      summary.policy = with_policy.policy;
      summary.privacy = with_policy.privacy;
      summary.policy_settings = {{"public_label_counts", declared ? "true" : "false"}};
    }};
  };
  run("fedavg", 1);
  run("declared", 1, false, hidden(true));
  const Report open = report();
  EXPECT_EQ(maps(open), 1U);
  EXPECT_THAT(open.html, Not(HasSubstr("keeps private")));
  run("hidden", 1, false, hidden(false));
  const Report made = report();
  EXPECT_EQ(maps(made), 0U);
  EXPECT_THAT(made.html, HasSubstr("Where a run's policy keeps private who holds how many examples"));
  EXPECT_THAT(made.html, Not(HasSubstr(">1002</text>")));
  EXPECT_THAT(made.html, Not(HasSubstr("fedarena partition FILE")));
}

TEST_F(ReportedPartition, ThatIsDamagedIsAProblem) {
  put(run("fedavg", 1) / kPartitionFile, "{\"schema\": 1}");
  const Report made = report();
  ASSERT_EQ(made.problems.size(), 1U);
  EXPECT_THAT(made.problems[0].what, has_all("partition.json", "\"id\" is missing"));
  EXPECT_EQ(maps(made), 0U);
}

TEST_F(ReportedPartition, OfAnotherRunIsAProblem) {
  const auto path = run("fedavg", 1);
  RunDirectory::open(path).write_file_atomically(kPartitionFile, to_json_text(three_clients()));
  const Report made = report();
  ASSERT_EQ(made.problems.size(), 1U);
  EXPECT_THAT(made.problems[0].what,
              HasSubstr("\"index_hash\" is 0123456789abcdef, and that of summary.json is"));
  EXPECT_EQ(maps(made), 0U);
}

}  // namespace
}  // namespace fedarena::results
