#include "results/table/table.hpp"

#include <cmath>

#include "fedarena/base/stream.hpp"

#include "results/write/render.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/results/recorded_run.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

std::vector<FoundRun> three_seeds(const std::string& label, double accuracy) {
  return {found(finished(label, 1, accuracy)), found(finished(label, 2, accuracy + 0.02)),
          found(finished(label, 3, accuracy + 0.04))};
}

std::vector<FoundRun> joined(std::vector<FoundRun> left, const std::vector<FoundRun>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::vector<bool> best_of(const Table& table) {
  std::vector<bool> best;
  for (const Row& row : table.rows) best.push_back(row.best);
  return best;
}

TEST(Table, GathersSeedsIntoRows) {
  const Table table = make_table(joined(three_seeds("fedprox", 0.5), three_seeds("fedavg", 0.6)));
  ASSERT_THAT(table.rows, SizeIs(2));
  const Row& row = table.rows.front();
  EXPECT_EQ(row.label, "fedavg");
  EXPECT_EQ(row.summary().rounds, 20);
  ASSERT_THAT(row.seeds, SizeIs(3));
  EXPECT_EQ(row.seeds[1].seed(), 2);
  EXPECT_EQ(row.seeds[1].path, "runs/fedavg-seed-2");
  EXPECT_DOUBLE_EQ(row.accuracy()->mean, 0.62);
  EXPECT_NEAR(*row.accuracy()->std, 0.02, 1e-15);
  EXPECT_EQ(row.uplink_bytes, 4096);
  EXPECT_EQ(row.seconds, 12.5);
  EXPECT_EQ(row.privacy, std::nullopt);
  EXPECT_THAT(beside_partitions(table.notes), IsEmpty());
}

// A sample of clients may be empty in every round.
TEST(Table, TakesBytesOfAClientFromRunsInWhichAnybodyTookPart) {
  auto runs = three_seeds("fedavg", 0.5);
  const auto nobody = [](FoundRun& run) {
    run.summary->uplink_bytes_per_client_round = run.summary->downlink_bytes_per_client_round = 0;
  };
  nobody(runs[1]);
  EXPECT_EQ(make_table(runs).rows.front().uplink_bytes, 4096);
  EXPECT_EQ(make_table(runs).rows.front().downlink_bytes, 8192);
  for (FoundRun& run : runs) nobody(run);
  EXPECT_EQ(make_table(runs).rows.front().uplink_bytes, std::nullopt);
  EXPECT_THAT(to_markdown(reader_table(make_table(runs))), HasSubstr("|    none |      - |        - |"));
}

TEST(Table, CountsOnlyFinishedRunsAndNamesTheOthers) {
  auto runs = three_seeds("fedprox", 0.5);
  runs[2] = found(unfinished("fedprox", 3, 12));
  runs.push_back({.path = "runs/x", .summary = {}, .problem = "summary.json: field \"seed\" is missing"});
  const Table table = make_table(runs);
  EXPECT_THAT(table.rows.front().seeds, SizeIs(2));
  EXPECT_THAT(beside_partitions(table.notes),
              ElementsAre("fedprox: seed 3 is unfinished (12 of 20 rounds) and not counted",
                          "runs/x: summary.json: field \"seed\" is missing; not counted"));
}

TEST(Table, HasNamedLabelsInTheirOrder) {
  const auto order = [](const Labels& labels) {
    auto runs =
        joined(joined(three_seeds("ditto", 0.5), three_seeds("fedavg", 0.6)), three_seeds("fedprox", 0.5));
    runs.push_back({.path = "runs/x", .summary = {}, .problem = "summary.json: field \"seed\" is missing"});
    keep_labels(runs, labels);
    std::vector<std::string> names;
    for (const Row& row : make_table(runs).rows) names.push_back(row.label);
    return names;
  };
  EXPECT_THAT(order({}), ElementsAre("ditto", "fedavg", "fedprox"));
  EXPECT_THAT(order({"fedprox", "ditto"}), ElementsAre("fedprox", "ditto"));
}

TEST(Table, MarksAllRowsThatPrintTheBestResult) {
  EXPECT_THAT(best_of(make_table(joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6)))),
              ElementsAre(false, true));
  EXPECT_THAT(best_of(make_table(joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.500001)))),
              ElementsAre(true, true));
}

TEST(Table, MarksNoRowThatDivergedOrHadOtherRounds) {
  auto runs = joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6));
  runs.back().summary->final_test_loss = std::nan("");
  EXPECT_THAT(best_of(make_table(runs)), ElementsAre(true, false));
  for (FoundRun& run : runs) run.summary->final_test_loss = std::nan("");
  EXPECT_THAT(best_of(make_table(runs)), ElementsAre(false, false));
  auto longer = joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6));
  for (FoundRun& run : longer) {
    if (run.summary->label == "fedprox") run.summary->rounds = run.summary->rounds_done = 40;
  }
  const Table table = make_table(longer);
  EXPECT_THAT(best_of(table), ElementsAre(false, false));
  EXPECT_THAT(beside_partitions(table.notes),
              ElementsAre("rows differ in rounds (fedavg 20, fedprox 40), so none is marked as the best"));
}

// A run that its budget or a rule ended costs less, which is no merit.
TEST(Table, MarksNoRowByItsCostWhereOneEndedEarly) {
  const Scratch folder;
  std::vector<FoundRun> runs;
  for (const char* label : {"fedavg", "fedprox"}) {
    const RecordedRun run(folder / label, {.policy = "none", .label = label});
    runs.push_back({.path = run.path(), .summary = RunDirectory::open(run.path()).summary()});
  }
  EXPECT_THAT(best_of(make_table(runs, parse_round_metric("round"))), ElementsAre(true, true));
  runs[0].summary->stopped = kStoppedByTarget;
  EXPECT_THAT(best_of(make_table(runs, parse_round_metric("round"))), ElementsAre(false, false));
  EXPECT_THAT(best_of(make_table(runs, parse_round_metric("accuracy"))), ElementsAre(true, true));
}

TEST(Table, SaysWhereRowsRestOnOtherSeeds) {
  auto runs = joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6));
  runs.back() = found(finished("fedprox", 4, 0.6));
  const Table unpaired = make_table(runs);
  EXPECT_THAT(best_of(unpaired), ElementsAre(false, true));
  EXPECT_THAT(beside_partitions(unpaired.notes),
              ElementsAre("rows rest on different seeds, so their comparison is not paired"));
  runs.pop_back();
  const Table fewer = make_table(runs);
  EXPECT_THAT(best_of(fewer), ElementsAre(false, false));
  EXPECT_THAT(beside_partitions(fewer.notes),
              ElementsAre("rows rest on different numbers of seeds (fedavg 3, fedprox 2), so none is "
                          "marked as the best"));
}

TEST(Table, ComparesOnlyWithinASetting) {
  auto easy = three_seeds("fedavg", 0.9);
  for (FoundRun& run : easy) run.summary->dataset = "easy";
  const auto hard = joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6));
  const Table table = make_table(joined(easy, hard));
  ASSERT_THAT(table.rows, SizeIs(3));
  EXPECT_EQ(table.rows[2].setting.dataset, "easy");
  EXPECT_THAT(best_of(table), ElementsAre(false, true, false));
  EXPECT_TRUE(varies(table, kSettingParts[1]));
  EXPECT_EQ(caption(table), "Experiment quickstart, partition iid, model mlp");
}

// What the clients of all rows do in a round; batches of 0 are whole shards, and steps stand for epochs.
TEST(Table, SaysTheLocalWorkThatItsRowsShare) {
  const auto runs = [](const char* rate, const char* steps) {
    auto all = joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6));
    for (FoundRun& run : all)
      run.summary->algorithm_parameters = {{"rate", run.summary->label == "fedavg" ? "0.1" : rate},
                                           {"batch_size", "0"},
                                           {"local_epochs", "1"},
                                           {"local_steps", steps}};
    return all;
  };
  const std::string steps = caption(make_table(runs("0.2", "7")));
  EXPECT_THAT(steps, HasSubstr(", batch_size 0, local_steps 7"));
  EXPECT_THAT(steps, AllOf(Not(HasSubstr("rate")), Not(HasSubstr("epochs"))));
  EXPECT_THAT(caption(make_table(runs("0.1", "0"))), HasSubstr(", rate 0.1, batch_size 0, local_epochs 1"));
}

// Of one part, one setting is swept and another one differs.
TEST(Table, NamesAPartThatDiffersBesideAGrid) {
  const auto parts = [](const std::vector<Setting>& settings) {
    std::vector<FoundRun> runs;
    for (const Setting& setting : settings) {
      Summary summary = finished("fedavg", 1, 0.5);
      summary.partition = setting.partition;
      summary.model = setting.model;
      summary.sweep = setting.sweep;
      runs.push_back(found(summary));
    }
    separate_by_settings(runs);
    const std::string text = to_markdown(reader_table(make_table(runs)));
    return text.substr(0, text.find("\n|:"));
  };
  const auto dealt = [](const std::string& partition, const Sweep& sweep) {
    return Setting{"", "", partition, "mlp", sweep};
  };
  EXPECT_THAT(parts({dealt("iid (clients = 2, noise = 0.5)", {{"partition.noise", "0.5"}}),
                     dealt("iid (clients = 10)", {{"partition.noise", "0"}})}),
              HasSubstr("| partition                      | partition.noise |"));
  EXPECT_THAT(parts({dealt("iid (clients = 2)", {{"partition.kind", "iid"}}),
                     dealt("dirichlet (clients = 2, alpha = 0.5)", {{"partition.kind", "dirichlet"}})}),
              HasSubstr("| partition.kind | algorithm"));
  const auto begun = [](const std::string& file, char digit) {
    const std::string model = fmt::format("mlp (hidden = [5], weights = \"{}\", weights_sha256 = \"{}\")",
                                          file, std::string(12, digit));
    return Setting{"", "", "iid", file.empty() ? "mlp (hidden = [5])" : model, {{"model.weights", file}}};
  };
  EXPECT_THAT(parts({begun("", ' '), begun("b.npz", 'b'), begun("c.npz", 'c')}),
              AllOf(HasSubstr("model mlp (hidden = [5])."),
                    HasSubstr("| model.weights | model.weights_sha256 | algorithm")));
}

TEST(Table, NamesTheSettingInNotesWhereItVaries) {
  auto runs = three_seeds("fedavg", 0.5);
  Summary other = unfinished("fedavg", 1, 3);
  other.dataset = "letters";
  runs.push_back(found(other));
  EXPECT_THAT(
      beside_partitions(make_table(runs).notes),
      ElementsAre("fedavg (data set letters): seed 1 is unfinished (3 of 20 rounds) and not counted"));
}

TEST(Table, RefusesASeedThatAppearsTwice) {
  auto runs = three_seeds("fedavg", 0.5);
  runs.push_back(found(finished("fedavg", 2, 0.9), "older"));
  EXPECT_EQ(message_of([&] { make_table(runs); }),
            "older/fedavg-seed-2 and runs/fedavg-seed-2 both hold seed 2 of \"fedavg\"\n"
            "  name only one of them, or give their algorithm entries different labels");
}

TEST(Table, RefusesToAverageDifferentThings) {
  auto runs = three_seeds("fedavg", 0.5);
  runs[0].summary->algorithm_parameters = {{"epochs", "5"}, {"lr", "0.1"}};
  runs[1].summary->algorithm_parameters = {{"epochs", "5"}, {"lr", "0.2"}};
  expect_refused(
      "runs/fedavg-seed-1 and runs/fedavg-seed-2 belong to one row, \"fedavg\", but differ in lr: \"0.1\" "
      "and \"0.2\"",
      [&] { make_table(runs); });
  runs[1].summary->algorithm_parameters = {{"lr", "0.1"}};
  expect_refused("differ in epochs: \"5\" and \"nothing\"", [&] { make_table(runs); });
  runs = three_seeds("fedavg", 0.5);
  runs[2].summary->rounds = runs[2].summary->rounds_done = 40;
  expect_refused("differ in rounds: \"20\" and \"40\"", [&] { make_table(runs); });
}

TEST(Table, ShowsTheErrorOfARegressionAndMarksTheLeast) {
  auto runs = joined(three_seeds("fedavg", 0.5), three_seeds("fedprox", 0.6));
  // Losses are half the squared error: 2, 4.5 and 8 make errors of 2, 3 and 4.
  const double losses[] = {2, 4.5, 8, 0.5, 0.5, 0.5};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].summary->final_test_accuracy = std::nullopt;
    runs[i].summary->final_test_loss = losses[i];
  }
  const Table table = make_table(runs);
  EXPECT_FALSE(table.rows[0].accuracy());
  EXPECT_EQ(table.rows[0].rmse()->mean, 3);
  EXPECT_EQ(table.rows[0].rmse()->std, 1);
  EXPECT_THAT(best_of(table), ElementsAre(false, true));
  const std::string markdown = to_markdown(reader_table(table));
  EXPECT_THAT(markdown, has_all("|     3.000 ± 1.000 |", "| **1.000 ± 0.000** |",
                                "RMSE (root mean squared error) after the last round: mean"));
  EXPECT_THAT(markdown, Not(HasSubstr("ccuracy")));
  EXPECT_THAT(to_latex(reader_table(table)), HasSubstr("fedavg & 20 & 3 & 3.000 \\pm 1.000 &"));
  EXPECT_THAT(render_csv(table), HasSubstr(",20,20,3,,,3,1,none,"));
  EXPECT_THAT(render_json(table), HasSubstr("\"rmse_mean\": 3.0"));
  runs[0].summary->final_test_accuracy = 0.5;
  expect_refused("differ in final_test_accuracy", [&] { make_table(runs); });
}

TEST(Table, MarksNoRegressionThatDivergedBesideOneThatDidNot) {
  for (const double loss : {std::nan(""), kInfinity}) {
    auto runs = std::vector{found(finished("fedavg", 1, 0.5)), found(finished("fedprox", 1, 0.5))};
    for (FoundRun& run : runs) run.summary->final_test_accuracy = std::nullopt;
    runs[0].summary->final_test_loss = loss;
    const Table table = make_table(runs);
    EXPECT_THAT(best_of(table), ElementsAre(false, true));
    EXPECT_THAT(to_markdown(reader_table(table)),
                HasSubstr(std::isnan(loss) ? "|       nan |" : "|       inf |"));
    EXPECT_THAT(render_json(table),
                HasSubstr(std::isnan(loss) ? "\"rmse_mean\": \"nan\"" : "\"rmse_mean\": \"inf\""));
  }
}

TEST(Table, NamesClassificationRunsThatDiverged) {
  const auto run = [](const std::string& label, std::int64_t seed, double loss) {
    Summary summary = finished(label, seed, 0.1);
    summary.final_test_loss = loss;
    return found(summary);
  };
  const double nan = std::nan("");
  EXPECT_THAT(make_table(std::vector{run("scaffold", 2, kInfinity), run("scaffold", 1, 0.5),
                                     run("fedavg", 3, nan), run("fedavg", 1, nan), run("fedavg", 2, 0.5)})
                  .notes,
              Contains("diverged (nan or infinite loss after the last round): fedavg, seeds 1, 3; scaffold, "
                       "seed 2"));
  EXPECT_THAT(make_table(std::vector{run("fedavg", 1, 0.5)}).notes, Not(Contains(HasSubstr("diverged"))));
}

TEST(Table, NamesRunsThatDivergedForSomeClients) {
  const auto run = [](const std::string& label, double loss, std::int64_t clients) {
    Summary summary = finished(label, 1, 0.5);
    summary.final_test_loss = loss;
    summary.per_client = ClientMetrics{.tested = 5, .diverged = clients};
    return found(summary);
  };
  EXPECT_THAT(
      make_table(std::vector{run("ditto", 0.5, 2), run("fedavg", 0.5, 0), run("fedprox", HUGE_VAL, 5)}).notes,
      testing::IsSupersetOf(
          {std::string("diverged for some clients, whose accuracies are those of guessing: ditto, seed 1"),
           std::string("diverged (nan or infinite loss after the last round): fedprox, seed 1")}));
}

TEST(Table, HasAColumnForEachKindOfResult) {
  auto runs = std::vector{found(finished("fedavg", 1, 0.5)), found(finished("fedavg", 1, 0.5), "other")};
  runs[1].summary->dataset = "prices";
  runs[1].summary->final_test_accuracy = std::nullopt;
  const std::string markdown = to_markdown(reader_table(make_table(runs)));
  EXPECT_THAT(markdown,
              has_all("| accuracy (%) |  RMSE |", "|        50.00 |     - |", "|            - | 1.000 |",
                      "Accuracy and RMSE (root mean squared error) after the last round"));
}

TEST(Table, OfNothingFinishedHasNoRows) {
  const Table table = make_table(std::vector{found(unfinished("fedavg", 1, 2))});
  EXPECT_THAT(table.rows, IsEmpty());
  EXPECT_THAT(table.notes, SizeIs(1));
  EXPECT_EQ(caption(table), "");
}

// A table depends on the runs, not on the order in which they were found.
TEST(Table, IsTheSameForAnyOrderOfItsRuns) {
  Stream stream({.seed = 5});
  std::vector<FoundRun> runs;
  for (const std::string label : {"fedavg", "fedprox", "fedavg-10", "fedavg-9"}) {
    for (std::int64_t seed = 1; seed <= 5; ++seed) {
      Summary summary = finished(label, seed, stream.uniform());
      summary.seconds = stream.uniform() * 100;
      summary.uplink_bytes_per_client_round = stream.uniform() * 1e6;
      if (label == "fedprox") summary.dataset = "letters";
      if (label == "fedavg" && seed == 4) summary = unfinished(label, seed, 7);
      runs.push_back(found(summary));
    }
  }
  runs.push_back({.path = "runs/x", .summary = {}, .problem = "broken"});
  runs.push_back({.path = "runs/y", .summary = {}, .problem = "broken"});
  const std::string expected = render_json(make_table(runs)) + to_markdown(reader_table(make_table(runs)));
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<FoundRun> shuffled;
    for (const std::int64_t i : stream.permutation(static_cast<std::int64_t>(runs.size()))) {
      shuffled.push_back(runs[static_cast<std::size_t>(i)]);
    }
    ASSERT_EQ(render_json(make_table(shuffled)) + to_markdown(reader_table(make_table(shuffled))), expected);
  }
}

}  // namespace
}  // namespace fedarena::results
