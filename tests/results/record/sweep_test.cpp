// Runs of a grid: recorded with their point, never averaged over points.
#include "results/record/sweep.hpp"

#include <vector>

#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

FoundRun at(const Sweep& sweep, const std::string& partition, const std::string& label, std::int64_t seed,
            double accuracy) {
  Summary summary = finished(label, seed, accuracy);
  summary.sweep = sweep;
  summary.partition = partition;
  return {.path = fmt::format("runs/{}/{}-seed-{}", sweep_text(sweep), label, seed),
          .summary = summary,
          .problem = {}};
}

// Two values of alpha for both algorithms, two of mu for fedprox alone, two seeds.
std::vector<FoundRun> sweep_grid() {
  std::vector<FoundRun> runs;
  for (const char* alpha : {"0.1", "10"}) {
    const std::string partition = fmt::format("dirichlet (clients = 4, alpha = {}, order = [1, 2])", alpha);
    const Sweep shared{{"partition.alpha", alpha}};
    for (const std::int64_t seed : {1, 2}) {
      runs.push_back(at(shared, partition, "fedavg", seed, 0.5 + 0.1 * static_cast<double>(seed)));
      for (const char* mu : {"0", "0.01"}) {
        runs.push_back(at({{"algorithms.fedprox.mu", mu}, shared.front()}, partition, "fedprox", seed, 0.3));
      }
    }
  }
  return runs;
}

TEST(Sweep, IsRecordedWithTheRun) {
  Summary summary = finished("fedprox", 1, 0.5);
  summary.sweep = {{"algorithms.fedprox.mu", "0.1"}, {"partition.kind", "iid"}};
  const std::string text = to_json_text(summary);
  EXPECT_THAT(
      text,
      HasSubstr(
          "\"sweep\": {\n    \"algorithms.fedprox.mu\": \"0.1\",\n    \"partition.kind\": \"iid\"\n  }"));
  EXPECT_TRUE(parse_summary(text, "summary.json") == summary);
}

TEST(Sweep, HasNoColumnWithoutAGrid) {
  const Table table =
      make_table(std::vector{at({}, "iid", "fedavg", 1, 0.5), at({}, "iid", "fedavg", 2, 0.6)});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(swept_keys(table), IsEmpty());
}

TEST(Sweep, MakesARowOfEveryPointAndMixesNone) {
  const Table table = make_table(sweep_grid());
  std::vector<std::string> rows;
  for (const Row& row : table.rows) {
    rows.push_back(fmt::format("{} at {}", row_name(row), sweep_text(row.setting.sweep)));
    EXPECT_EQ(row.seeds.size(), 2U);
  }
  EXPECT_THAT(rows,
              ElementsAre("fedavg at partition.alpha=0.1", "fedprox, mu=0 at partition.alpha=0.1",
                          "fedprox, mu=0.01 at partition.alpha=0.1", "fedavg at partition.alpha=10",
                          "fedprox, mu=0 at partition.alpha=10", "fedprox, mu=0.01 at partition.alpha=10"));
  // Algorithms are compared within a point: each has its best.
  for (const Row& row : table.rows) EXPECT_EQ(row.best, row.label == "fedavg");
}

TEST(Sweep, HasColumnsInThePlaceOfWhatTheyTell) {
  const std::string text = to_markdown(reader_table(make_table(sweep_grid())));
  EXPECT_THAT(text,
              has_all("| partition.alpha | algorithm | mu   | rounds |",
                      "| 0.1             | fedavg    | -    |", "| 10              | fedprox   | 0.01 |",
                      "partition dirichlet (clients = 4, order = [1, 2]), model mlp."));
  EXPECT_THAT(render_csv(make_table(sweep_grid())), HasSubstr(",\"partition.alpha=0.1, mu=0.01\","));
  EXPECT_THAT(render_json(make_table(sweep_grid())),
              HasSubstr("\"partition.alpha\": \"10\",\n        \"mu\": \"0.01\""));
}

TEST(Sweep, OrdersRowsByNumbers) {
  std::vector<FoundRun> runs;
  for (const char* alpha : {"10", "0.2", "1e-3", "0.05"})
    runs.push_back(
        at({{"partition.alpha", alpha}}, fmt::format("dirichlet (alpha = {})", alpha), "fedavg", 1, 0.5));
  std::vector<std::string> order;
  for (const Row& row : make_table(runs).rows) order.push_back(row.setting.sweep.front().second);
  EXPECT_THAT(order, ElementsAre("1e-3", "0.05", "0.2", "10"));
}

TEST(Sweep, NeedsNoColumnWhereOnePointIsShown) {
  std::vector<FoundRun> runs = sweep_grid();
  std::erase_if(runs, [](const FoundRun& run) { return run.summary->sweep.back().second != "10"; });
  const std::string text = to_markdown(reader_table(make_table(runs)));
  EXPECT_THAT(text, Not(HasSubstr("| partition.alpha")));
  EXPECT_THAT(
      text,
      HasSubstr(
          "partition dirichlet (clients = 4, alpha = 10, order = [1, 2]), model mlp, partition.alpha 10."));
}

TEST(Sweep, LeavesTheColumnOfAPartWhereMoreDiffers) {
  std::vector<FoundRun> runs = sweep_grid();
  runs.push_back(at({}, "iid (clients = 4)", "fedavg", 1, 0.9));
  const Table table = make_table(runs);
  EXPECT_TRUE(varies(table, kSettingParts[2]));
  EXPECT_EQ(swept_value(table.rows.front().whole_sweep(), "partition.alpha"), std::nullopt);
  runs.back().summary->sweep = {{"partition.alpha", "10"}};
  EXPECT_TRUE(varies(make_table(runs), kSettingParts[2]));
}

TEST(Sweep, NamesThePointInNotes) {
  std::vector<FoundRun> runs = sweep_grid();
  runs.back().summary = unfinished("fedprox", 2, 12);
  runs.back().summary->sweep = {{"algorithms.fedprox.mu", "0.01"}, {"partition.alpha", "10"}};
  runs.back().summary->partition = "dirichlet (clients = 4, alpha = 10, order = [1, 2])";
  EXPECT_THAT(make_table(runs).notes,
              Contains("fedprox, mu=0.01 (partition.alpha=10): seed 2 is unfinished (12 of 20 rounds) "
                       "and not counted"));
}

TEST(Sweep, PartsAreToldApart) {
  const Sweep sweep{{"algorithms.\"a.b\".mu", "2"}, {"algorithms.fedprox.mu", "1"}, {"data.name", "glyphs"}};
  EXPECT_THAT(shared_sweep(sweep), ElementsAre(testing::Pair("data.name", "glyphs")));
  EXPECT_THAT(own_sweep({sweep[1]}, "fedprox"), ElementsAre(testing::Pair("mu", "1")));
  EXPECT_THAT(own_sweep({sweep[0]}, "a.b"), ElementsAre(testing::Pair("mu", "2")));
  EXPECT_EQ(own_key(sweep[0].first, "a.b"), "mu");
  EXPECT_EQ(own_key(sweep[0].first, "fedprox"), std::nullopt);
  EXPECT_EQ(swept_in(sweep, "data"), "data.name=glyphs");
  EXPECT_EQ(swept_in(sweep, "dat"), "");
  EXPECT_EQ(without_swept("iid", sweep, "data"), "iid");
  EXPECT_EQ(
      without_swept("classes (order = [1, 2], clients = 4)", {{"partition.order", "[1, 2]"}}, "partition"),
      "classes (clients = 4)");
  EXPECT_EQ(without_swept("iid (clients = 4)", {{"partition.clients", "4"}}, "partition"), "iid");
  EXPECT_THAT(settings_of_choice(R"(csv (path = "runs, \"v = 2/t.csv", train = 9))"),
              ElementsAre(testing::Pair("path", R"("runs, \"v = 2/t.csv")"), testing::Pair("train", "9")));
}

}  // namespace
}  // namespace fedarena::results
