// What `run`, `verify` and `replay` say of data that were changed since.

#include <string>
#include <utility>
#include <vector>

#include "harness/app/command_line.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"

namespace fedarena::test {
namespace {

class ChangedData : public ScratchTest {
 protected:
  // A shift of all rows alike would vanish when the column is scaled.
  static std::string table(double shift) {
    std::string text = "x,label\n";
    for (int i = 0; i < 60; ++i)
      text += std::to_string(i * 0.25 + shift * (i % 3)) + (i % 2 == 0 ? ",pos\n" : ",neg\n");
    return text;
  }
  static SmallExperiment on_table(std::vector<std::string> algorithms) {
    return {.data = "csv\"\npath = \"t.csv\"\ntarget = \"label",
            .seeds = "[1, 2]",
            .partition = "kind = \"iid\"\nclients = 3",
            .algorithms = std::move(algorithms)};
  }
  ChangedData() {
    scratch.write("t.csv", table(0));
    on_table({"fedavg"}).write_to(scratch);
    test::succeed(scratch, "run small.toml --out out");
  }
};

TEST_F(ChangedData, IsRefusedByRunInOneMessage) {
  scratch.write("t.csv", table(1));
  const std::string refusal =
      "runs here were made from other data: csv (path = \"t.csv\", target = \"label\"";
  const auto before = snapshot_of(scratch / "out");
  // Finished, unfinished, another algorithm beside them, and another algorithm by itself.
  EXPECT_THAT(refused("run small.toml --out out --resume"),
              has_all("fedarena: out: " + refusal, "their SHA-256 was ",
                      "(2 cells: fedavg-seed-1, fedavg-seed-2)", "Put the old data back"));
  EXPECT_THAT(refused("run small.toml --out out --resume --dry-run"), HasSubstr(refusal));
  on_table({"fedavg", "fedprox"}).write_to(scratch);
  EXPECT_THAT(refused("run small.toml --out out --resume"), HasSubstr(refusal));
  on_table({"fedprox"}).write_to(scratch);
  EXPECT_THAT(refused("run small.toml --out out"), HasSubstr(refusal));
  EXPECT_THAT(refused("run small.toml --out out --dry-run"), HasSubstr(refusal));
  EXPECT_EQ(snapshot_of(scratch / "out"), before);
  // The same data again, in whatever file of that name.
  scratch.write("t.csv", table(0));
  succeed("run small.toml --out out");
  EXPECT_THAT(succeed("verify out --data").out, HasSubstr("verified: 4 runs"));
}

// Inputs beside the run's own, from a file.
TEST_F(ChangedData, OfTheProxyIsRefusedAsWell) {
  scratch.write("p.csv", table(2.1));
  SmallExperiment with_proxy = on_table({"feddf"});
  with_proxy.training += "\ndistillation_steps = 3";
  with_proxy.more = "\n[proxy]\nname = \"csv\"\npath = \"p.csv\"\ntarget = \"label\"\n";
  with_proxy.write_to(scratch);
  EXPECT_THAT(
      succeed("run small.toml --out proxy").err,
      HasSubstr("note: the server also has csv (path = \"p.csv\", target = \"label\"), without labels\n"));
  EXPECT_THAT(succeed("table proxy").out, HasSubstr("the server also has csv"));
  EXPECT_THAT(succeed("verify proxy --data").out, HasSubstr("verified: 2 runs"));
  // Its server reads messages one by one, besides their privatised mean.
  with_proxy.training += "\nweighting = \"uniform\"";
  with_proxy.more += "\n[privacy]\npolicy = \"client\"\n";
  with_proxy.write_to(scratch);
  succeed("run small.toml --out clients");
  EXPECT_THAT(succeed("verify clients").out, HasSubstr("verified: 2 runs"));
  with_proxy.training.resize(with_proxy.training.rfind("\nweighting"));
  with_proxy.more.resize(with_proxy.more.rfind("\n[privacy]"));
  with_proxy.write_to(scratch);
  scratch.write("p.csv", table(1));
  EXPECT_THAT(refused("run small.toml --out proxy --resume"),
              has_all("runs here were made from other data: csv", "proxy = csv"));
  EXPECT_EQ(call("verify proxy --data").exit_code, 2);
}

TEST_F(ChangedData, IsToldApartWhereRunsMeetAnyway) {
  scratch.write("t.csv", table(1));
  on_table({"fedprox"}).write_to(scratch);
  succeed("run small.toml --out other");
  for (const char* seed : {"1", "2"})
    fs::rename(scratch / (std::string("other/fedprox-seed-") + seed),
               scratch / (std::string("out/fedprox-seed-") + seed));
  EXPECT_THAT(succeed("table out").out,
              has_all("| data.sha256 ", "its examples were not the same for all rows"));
  EXPECT_THAT(refused("compare out"), HasSubstr("SHA-256 of the data"));
  EXPECT_THAT(succeed("compare out --across data").out, HasSubstr("are compared across data"));
  succeed("report out -o report.html");
  EXPECT_THAT(content_of(scratch / "report.html"), HasSubstr("its examples were not the same for all rows"));
  EXPECT_THAT(failed("verify out").out, has_all("differs: out/fedprox-seed-1/summary.json: data_hash is ",
                                                ", as out/fedavg-seed-1 has it"));
}

// A mean of them in which the classes weigh otherwise.
TEST_F(ChangedData, TellsHowManyTestExamplesClassesHave) {
  const fs::path run = scratch / "out/fedavg-seed-1";
  const results::RoundRecord first = rounds_of(run).front();
  const double of_class = first.classes->accuracy.front().value();
  ASSERT_NE(of_class, *first.test_accuracy);
  replace_in(run / "rounds.jsonl", fmt::format("\"test_accuracy\":{}", *first.test_accuracy),
             fmt::format("\"test_accuracy\":{}", of_class));
  edit_summary(run, [](results::Summary&) {});
  succeed("verify out");
  EXPECT_THAT(failed("verify --data out").out,
              HasSubstr(fmt::format("rounds.jsonl: test_accuracy of round 1 is {}; recomputed: {}, by the "
                                    "accuracies of the classes\n",
                                    of_class, *first.test_accuracy)));
}

TEST_F(ChangedData, IsRefusedByReplayBeforeItRunsAnything) {
  succeed("bundle out -o runs.tar.gz");
  scratch.write("t.csv", table(1));
  EXPECT_THAT(refused("replay runs.tar.gz --out again"),
              has_all("fedavg-seed-1: this run was made from other data: csv (path = \"t.csv\"",
                      "their SHA-256 was ", "Put the old data back"));
  EXPECT_FALSE(fs::exists(scratch / "again"));
}

TEST_F(ChangedData, IsFoundByVerifyWithData) {
  EXPECT_THAT(succeed("verify out --data").out, HasSubstr("verified: 2 runs"));
  scratch.write("t.csv", table(1));
  EXPECT_THAT(succeed("verify out").out, HasSubstr("verified: 2 runs"));
  EXPECT_THAT(failed("verify --data out").out,
              HasSubstr("differs: out/fedavg-seed-2/summary.json: data_hash is "));
  // One more row changes the partition and all that follows from it.
  scratch.write("t.csv", table(0) + "99,pos\n");
  EXPECT_THAT(failed("verify --data out").out, HasSubstr(" 2 differences\n"));
  fs::remove(scratch / "t.csv");
  EXPECT_THAT(call("verify out --data").out, ContainsRegex("out/fedavg-seed-1: [^\n]*t\\.csv"));
}

}  // namespace
}  // namespace fedarena::test
