// Rows hold runs under the same conditions, also under those that no summary states.
#include "results/table/rows.hpp"

#include "results/table/row_values.hpp"
#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

const std::string kFile =
    "[experiment]\nname = \"e\"\nseeds = [1]\ndtype = \"float32\"\n\n[cohort]\nsize = "
    "5\n\n[evaluation]\nevery = 1\nvalidation_fraction = 0.1\nper_client = false\n\n"
    "[stopping]\npatience = 3\n\n[privacy]\npolicy = \"none\"\n\n[[algorithms]]\nname = \"fedavg\"\n\n"
    "[algorithms.privacy]\npolicy = \"record\"\nnoise_multiplier = 1.0\n";

std::string with(const std::string& before, const std::string& after) {
  std::string text = kFile;
  text.replace(text.find(before), before.size(), after);
  return text;
}

TEST(RowConditions, AreThoseThatNoSummaryStates) {
  EXPECT_THAT(
      row_conditions(resolved_settings(kFile)),
      ElementsAre(testing::Pair("algorithms.privacy.noise_multiplier", "1.0"),
                  testing::Pair("algorithms.privacy.policy", "record"), testing::Pair("cohort.size", "5"),
                  testing::Pair("evaluation.every", "1"), testing::Pair("evaluation.per_client", "false"),
                  testing::Pair("evaluation.validation_fraction", "0.1"),
                  testing::Pair("experiment.dtype", "float32"), testing::Pair("stopping.patience", "3")));
}

// What is wrong with a row of a run of that file and one of kFile, or "nothing".
std::string wrong_with(const std::string& file) {
  std::vector<FoundRun> runs = {found(finished("fedavg", 1, 0.5)), found(finished("fedavg", 2, 0.6))};
  runs[0].settings = resolved_settings(kFile);
  runs[1].settings = resolved_settings(file);
  return test::message_or("nothing", [&] { check_row(gather_rows(runs).rows.front()); });
}

TEST(SameRow, RefusesOtherConditions) {
  EXPECT_EQ(wrong_with(with("seeds = [1]", "seeds = [2]")), "nothing");
  EXPECT_THAT(wrong_with(with("every = 1", "every = 2")), HasSubstr("differ in evaluation.every"));
  EXPECT_EQ(wrong_with(with("[stopping]\npatience = 3\n\n", "")), "nothing") << "older than the setting";
  EXPECT_THAT(wrong_with(with("size = 5", "size = 50")),
              HasSubstr("belong to one row, \"fedavg\", but differ in cohort.size: \"5\" and \"50\""));
  EXPECT_THAT(wrong_with(with("patience = 3", "patience = 0")),
              HasSubstr("differ in stopping.patience: \"3\" and \"0\""));
  EXPECT_THAT(wrong_with(with("validation_fraction = 0.1", "validation_fraction = 0.2")),
              HasSubstr("differ in evaluation.validation_fraction: \"0.1\" and \"0.2\""));
  EXPECT_THAT(wrong_with(with("per_client = false", "per_client = true")),
              HasSubstr("differ in evaluation.per_client"));
  EXPECT_THAT(wrong_with(with("float32", "float64")), HasSubstr("differ in experiment.dtype"));
  EXPECT_THAT(wrong_with(with("noise_multiplier = 1.0", "noise_multiplier = 2.0")),
              HasSubstr("differ in algorithms.privacy.noise_multiplier: \"1.0\" and \"2.0\""));
}

FoundRun with_parameters(const std::string& label, std::int64_t seed,
                         std::vector<std::pair<std::string, std::string>> parameters) {
  Summary summary = finished(label, seed, 0.5);
  summary.algorithm_parameters = std::move(parameters);
  return found(summary);
}

std::vector<std::string> rows_of(std::vector<FoundRun> runs) {
  separate_by_settings(runs);
  std::vector<std::string> rows;
  for (const Row& row : make_table(runs).rows)
    rows.push_back(fmt::format("{}: {}", row_name(row), row.seeds.size()));
  return rows;
}

TEST(SeparateRows, AreToldApartByWhatDiffersAlone) {
  const auto at_rate = [](std::int64_t seed, const std::string& rate) {
    return with_parameters("fedavg", seed, {{"momentum", "0.9"}, {"rate", rate}, {"schedule", "\"cosine\""}});
  };
  std::vector<FoundRun> runs = {at_rate(1, "0.1"), at_rate(1, "0.02"), at_rate(2, "0.02")};
  EXPECT_THAT(rows_of(runs), ElementsAre("fedavg, rate=0.02: 2", "fedavg, rate=0.1: 1"));
  separate_by_settings(runs);
  EXPECT_THAT(to_markdown(reader_table(make_table(runs))), HasSubstr("| algorithm | rate | rounds |"));
  EXPECT_THAT(rows_of({at_rate(1, "0.1"), with_parameters("fedavg", 1, {{"schedule", "\"step\""}})}),
              ElementsAre("fedavg, momentum=0.9, rate=0.1, schedule=cosine: 1", "fedavg, schedule=step: 1"))
      << "an older version may lack parameters";
}

TEST(SeparateRows, LeaveRunsThatFitTogether) {
  std::vector<FoundRun> runs = {with_parameters("fedavg", 1, {{"rate", "0.1"}}),
                                with_parameters("fedavg", 2, {{"rate", "0.1"}}),
                                with_parameters("fedprox", 1, {{"rate", "0.2"}})};
  runs.push_back({.path = "runs/broken", .summary = std::nullopt, .problem = "unreadable"});
  separate_by_settings(runs);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(runs[i].summary->sweep, IsEmpty());
}

TEST(SeparateRows, AddToWhatAGridGives) {
  const auto at = [](const std::string& mu, const std::string& rate) {
    FoundRun run = with_parameters("fedprox", 1, {{"mu", mu}, {"rate", rate}});
    run.summary->sweep = {{"algorithms.fedprox.mu", mu}, {"partition.alpha", "0.5"}};
    return run;
  };
  EXPECT_THAT(rows_of({at("0.1", "0.5"), at("0.1", "0.25"), at("1", "0.5")}),
              ElementsAre("fedprox, mu=0.1, rate=0.25: 1", "fedprox, mu=0.1, rate=0.5: 1",
                          "fedprox, mu=1, rate=0.5: 1"));
}

// Each point of a grid with settings of its own, from several commands: what no sweep says has a column, too.
TEST(SeparateRows, AreToldApartAtOtherPointsOfAGrid) {
  const auto at = [&](const std::string& rate, const std::string& steps, const std::string& size,
                      const std::string& noise = "1.0") {
    FoundRun run = with_parameters("fedavg", 1, {{"local_steps", steps}, {"rate", rate}});
    run.summary->sweep = {{"training.rate", rate}};
    run.path = fmt::format("{}-{}-{}-{}", rate, steps, size, noise);
    run.settings = resolved_settings(
        fmt::format("[cohort]\nsize = {}\n\n[[algorithms]]\nrate = {}\n\n[algorithms.privacy]\n"
                    "noise_multiplier = {}\n",
                    size, rate, noise));
    return run;
  };
  EXPECT_THAT(rows_of({at("0.1", "4", "0"), at("0.2", "40", "0")}),
              ElementsAre("fedavg, local_steps=4: 1", "fedavg, local_steps=40: 1"));
  std::vector<FoundRun> runs = {at("0.1", "4", "0"), at("0.2", "4", "1")};
  separate_by_settings(runs);
  EXPECT_EQ(runs[0].summary->sweep, (Sweep{{"cohort.size", "0"}, {"training.rate", "0.1"}}));
  // Of a run beside the grid, its point is known as soon as its other settings are.
  runs = {at("0.1", "4", "0"), at("0.1", "8", "0")};
  runs[1].summary->sweep.clear();
  separate_by_settings(runs);
  EXPECT_EQ(runs[1].summary->sweep,
            (Sweep{{"algorithms.fedavg.local_steps", "8"}, {"training.rate", "0.1"}}));
  EXPECT_THAT(rows_of({at("0.1", "4", "0", "1.0"), at("0.2", "4", "0", "2.0")}),
              ElementsAre("fedavg, privacy.noise_multiplier=1: 1", "fedavg, privacy.noise_multiplier=2: 1"));
  // What follows from a point is not told beside it: noise that was found, settings that were searched for.
  runs = {at("0.1", "4", "0", "1.0"), at("0.2", "8", "0", "2.0")};
  for (FoundRun& run : runs) {
    run.summary->sweep = {{"privacy.noise_for_epsilon", run.summary->algorithm_parameters[0].second}};
    run.summary->tuning = Tuning{.search = "grid",
                                 .chosen = {{"algorithms.fedavg.local_steps", "4"}, {"training.rate", "0.1"}},
                                 .criterion = std::string(kByValidationAccuracy),
                                 .score = {}};
  }
  separate_by_settings(runs);
  for (const FoundRun& run : runs) EXPECT_THAT(run.summary->sweep, SizeIs(1));
}

// A value that one experiment sweeps over, another one has once; and one that differs has no dash.
TEST(SeparateRows, ShowValuesOfRunsThatSweepNothing) {
  const auto run_of = [&](const std::string& experiment, const std::string& label, const std::string& rate,
                          const std::string& size) {
    Summary summary = finished(label, 1, 0.5);
    summary.experiment = experiment;
    summary.algorithm_parameters = {{"rate", rate}};
    FoundRun run = found(summary);
    run.path = fmt::format("{}-{}-{}-{}", experiment, label, rate, size);
    run.settings =
        resolved_settings(fmt::format("[cohort]\nsize = {}\n\n[[algorithms]]\nrate = {}\n", size, rate));
    return run;
  };
  std::vector<FoundRun> runs = {run_of("grid", "fedavg", "0.1", "0"), run_of("grid", "fedavg", "0.3", "0"),
                                run_of("plain", "fedavg", "0.3", "0")};
  for (std::size_t i = 0; i < 2; ++i)
    runs[i].summary->sweep = {{"training.rate", runs[i].summary->algorithm_parameters[0].second}};
  separate_by_settings(runs);
  EXPECT_EQ(runs[2].summary->sweep, (Sweep{{"training.rate", "0.3"}}));
  // Also of an experiment of that name, but for algorithms that its grid makes no difference for.
  runs = {run_of("grid", "fedavg", "0.1", "0"), run_of("grid", "fedavg", "0.3", "0"),
          run_of("grid", "fedprox", "0.3", "0")};
  runs[0].summary->sweep = {{"training.rate", "0.1"}};
  separate_by_settings(runs);
  EXPECT_EQ(runs[1].summary->sweep, (Sweep{{"training.rate", "0.3"}}));
  EXPECT_THAT(runs[2].summary->sweep, IsEmpty());
  // What ran before its grid stays apart from the point that has the same seed; another seed joins it.
  for (const std::int64_t seed : {1, 2}) {
    runs = {run_of("grid", "fedavg", "0.1", "0"), run_of("grid", "fedavg", "0.1", "0")};
    runs[0].summary->sweep = {{"training.rate", "0.1"}};
    runs[1].summary->seed = seed;
    EXPECT_THAT(rows_of(runs), SizeIs(seed == 1 ? 2 : 1));
    separate_by_settings(runs);
    EXPECT_THAT(runs[1].summary->sweep, SizeIs(seed - 1));
  }
  // So it does where a third experiment's grid gives both another value, which both then show.
  runs = {run_of("grid", "fedavg", "0.1", "0"), run_of("grid", "fedavg", "0.1", "0"),
          run_of("other", "fedavg", "0.1", "0")};
  runs[0].summary->sweep = {{"training.rate", "0.1"}};
  runs[2].summary->sweep = {{"partition.clients", "9"}};
  runs[2].summary->clients = 9;
  separate_by_settings(runs);
  const std::string clients = std::to_string(runs[1].summary->clients);
  EXPECT_EQ(runs[0].summary->sweep, (Sweep{{"partition.clients", clients}, {"training.rate", "0.1"}}));
  EXPECT_EQ(runs[1].summary->sweep, (Sweep{{"partition.clients", clients}}));
  // A partition by user has as many clients as there are users, whatever its file says.
  runs = {run_of("one", "fedavg", "1.0", "0"), run_of("two", "fedavg", "1.0", "0")};
  runs[0].summary->sweep = {{"partition.clients", "5"}};
  runs[1].summary->clients = 21;
  separate_by_settings(runs);
  EXPECT_EQ(runs[1].summary->sweep, (Sweep{{"partition.clients", "21"}}));

  runs = {run_of("one", "fedavg", "1.0", "0"), run_of("one", "fedavg", "1.0", "2"),
          run_of("one", "fedprox", "1.0", "0")};
  separate_by_settings(runs);
  EXPECT_EQ(runs[2].summary->sweep, (Sweep{{"cohort.size", "0"}}));
  runs = {run_of("one", "fedavg", "1.0", "0"), run_of("one", "fedavg", "0.5", "0"),
          run_of("one", "fedprox", "1.0", "0")};
  separate_by_settings(runs);
  EXPECT_EQ(runs[0].summary->sweep, (Sweep{{"algorithms.fedavg.rate", "1"}}));
  EXPECT_EQ(runs[2].summary->sweep, (Sweep{{"algorithms.fedprox.rate", "1"}}));
}

// What only the experiment file of a run says.
TEST(SeparateRows, AreToldApartByConditionsThatBothHave) {
  const auto run_of = [](std::int64_t seed, const std::string& settings) {
    FoundRun run = with_parameters("dp-fedavg", seed, {});
    run.settings = resolved_settings(settings);
    return run;
  };
  const std::string privacy = "[[algorithms]]\n[algorithms.privacy]\nnoise_multiplier = ";
  EXPECT_THAT(
      rows_of({run_of(1, privacy + "1.0\n"), run_of(2, privacy + "2.0\n"), run_of(3, privacy + "2.0\n")}),
      ElementsAre("dp-fedavg, privacy.noise_multiplier=1: 1", "dp-fedavg, privacy.noise_multiplier=2: 2"));
  std::vector<FoundRun> cohorts = {run_of(1, "[cohort]\nsize = 5\n"), run_of(2, "[cohort]\nsize = 10\n")};
  separate_by_settings(cohorts);
  EXPECT_THAT(to_markdown(reader_table(make_table(cohorts))), HasSubstr("| cohort.size | algorithm |"));
  EXPECT_THAT(rows_of({run_of(1, "[cohort]\nsize = 5\n"), run_of(2, "")}), ElementsAre("dp-fedavg: 2"));
}

// Two experiment files of one name.
TEST(Rows, OfOtherConditionsHaveNoBest) {
  const auto run_of = [](const std::string& label, double accuracy, const std::string& settings) {
    FoundRun run = found(finished(label, 1, accuracy));
    run.settings = resolved_settings(settings);
    return run;
  };
  const std::vector<FoundRun> alike = {run_of("fedavg", 0.5, "[cohort]\nsize = 1\n"),
                                       run_of("fedprox", 0.6, "[cohort]\nsize = 1\n")};
  EXPECT_TRUE(make_table(alike).rows.back().best);
  const std::vector<FoundRun> unlike = {run_of("fedavg", 0.5, "[cohort]\nsize = 1\n"),
                                        run_of("fedprox", 0.6, "[cohort]\nsize = 10\n")};
  const Table table = make_table(unlike);
  EXPECT_FALSE(table.rows.back().best);
  EXPECT_THAT(to_markdown(reader_table(table)),
              HasSubstr("rows differ in cohort.size (fedavg 1, fedprox 10), so none "
                        "is marked as the best"));
}

FoundRun on_data(const std::string& label, std::int64_t seed, char digit) {
  FoundRun run = with_parameters(label, seed, {});
  run.summary->data_hash = std::string(64, digit);
  return run;
}

// Data of one name that were changed in between.
TEST(SeparateRows, AreToldApartByTheirData) {
  EXPECT_THAT(rows_of({on_data("fedavg", 1, 'a'), on_data("fedavg", 2, 'a'), on_data("fedprox", 1, 'a')}),
              ElementsAre("fedavg: 2", "fedprox: 1"));
  std::vector<FoundRun> runs = {on_data("fedavg", 1, 'a'), on_data("fedavg", 2, 'b'),
                                on_data("fedprox", 1, 'b')};
  EXPECT_THAT(rows_of(runs), ElementsAre("fedavg: 1", "fedavg: 1", "fedprox: 1"));
  separate_by_settings(runs);
  const Table table = make_table(runs);
  EXPECT_EQ(row_value(table.rows[0], kDataHashPath), "aaaaaaaaaaaa");
  EXPECT_EQ(row_value(table.rows[2], kDataHashPath), "bbbbbbbbbbbb");
  EXPECT_THAT(to_markdown(reader_table(table)),
              HasSubstr("data set digits: its examples were not the same for all rows, which cannot be "
                        "compared: fedavg (data.sha256=aaaaaaaaaaaa) (SHA-256 aaaaaaaaaaaa); fedavg "
                        "(data.sha256=bbbbbbbbbbbb), fedprox (data.sha256=bbbbbbbbbbbb) (SHA-256 "
                        "bbbbbbbbbbbb)"));
}

TEST(SameRow, HoldsNoRunsOnDifferentData) {
  const std::vector<FoundRun> runs = {on_data("fedavg", 1, 'a'), on_data("fedavg", 2, 'b')};
  expect_refused(
      "runs/fedavg-seed-1 and runs/fedavg-seed-2 belong to one row, \"fedavg\", but differ in the SHA-256 of "
      "digits",
      [&] { make_table(runs); });
}

}  // namespace
}  // namespace fedarena::results
