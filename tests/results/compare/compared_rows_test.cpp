#include "results/compare/compared_rows.hpp"

#include "tests/matchers.hpp"
#include "tests/results/compare/pair_samples.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

std::vector<std::string> names_of(const std::vector<std::vector<FoundRun>>& folders) {
  const std::vector<FoundRun> runs = folders_of(folders);
  std::vector<RowRuns> rows = gather_compared_rows(runs).rows;
  name_apart(rows);
  std::vector<std::string> names;
  for (const RowRuns& row : rows) names.push_back(row.name);
  return names;
}

// In the only folder.
std::size_t count_of_rows(const std::vector<FoundRun>& folder) {
  return gather_compared_rows(folder).rows.size();
}

TEST(ComparedRows, AreRunsThatDifferInTheSeedAlone) {
  const auto runs = folder_of({row_of("scaffold", {0.5, 0.6}), row_of("fedavg", {0.4, 0.5, 0.6})});
  const Rows gathered = gather_compared_rows(runs);
  EXPECT_EQ(plain_name(gathered.rows.front()), "fedavg");
  EXPECT_EQ(plain_name(gathered.rows.back()), "scaffold");
  EXPECT_THAT(gathered.rows[0].runs, SizeIs(3));
  EXPECT_EQ(gathered.rows[1].of_seed(2)->summary->final_test_accuracy, 0.6);
  EXPECT_EQ(gathered.rows[1].of_seed(3), nullptr);
}

TEST(ComparedRows, JoinSeedsOfSeveralFolders) {
  const auto later = [](Summary& summary) { summary.seed += 2; };
  const auto runs = folders_of({folder_of({row_of("fedavg", {0.5, 0.6})}),
                                folder_of({row_of("fedavg", {0.7}, later, "runs/b")}, "runs/b")});
  const Rows gathered = gather_compared_rows(runs);
  ASSERT_THAT(gathered.rows, SizeIs(1));
  EXPECT_THAT(gathered.rows.front().runs, SizeIs(3));
}

TEST(ComparedRows, StayApartByFolderWhereTheyDoNotFitTogether) {
  const auto faster = [](Summary& summary) { summary.algorithm_parameters = {{"rate", "0.5"}}; };
  EXPECT_THAT(names_of({folder_of({row_of("fedavg", {0.5, 0.6}), row_of("scaffold", {0.5})}),
                        folder_of({row_of("fedavg", {0.5, 0.6}, faster, "runs/b")}, "runs/b")}),
              ElementsAre("fedavg (runs/a)", "fedavg (runs/b)", "scaffold"));
  // The same seeds again are another row, too.
  EXPECT_THAT(names_of({folder_of({row_of("fedavg", {0.5})}),
                        folder_of({row_of("fedavg", {0.6}, {[](Summary&) {}}, "runs/b")}, "runs/b")}),
              ElementsAre("fedavg (runs/a)", "fedavg (runs/b)"));
}

TEST(ComparedRows, OfOneFolderMustFitTogether) {
  auto runs = row_of("fedavg", {0.5, 0.6});
  runs[1].summary->algorithm_parameters = {{"rate", "0.5"}};
  expect_refused("belong to one row, \"fedavg\", but differ in rate: \"nothing\" and \"0.5\"",
                 [&] { count_of_rows(folder_of({runs})); });
  expect_refused("belong to one row", [&] {
    gather_compared_rows(folders_of({folder_of({runs}), folder_of({row_of("fedavg", {0.5})}, "runs/b")}));
  });
}

TEST(ComparedRows, WereTunedTheSameWay) {
  auto runs = row_of("fedavg", {0.5, 0.6}, [](Summary& summary) { summary.tuning = tuned_by(6); });
  EXPECT_EQ(count_of_rows(folder_of({runs})), 1);
  runs[1].summary->tuning->seconds += 1;  // resumed, so that the trials took longer
  EXPECT_EQ(count_of_rows(folder_of({runs})), 1);
  runs[1].summary->tuning->trials = 12;
  expect_refused(
      "belong to one row, \"fedavg\", but differ in tuning: \"6 trials (grid, seed 0): training.rate=0.1\" "
      "and \"12 trials (grid, seed 0): training.rate=0.1\"",
      [&] { count_of_rows(folder_of({runs})); });
  runs[1].summary->tuning = std::nullopt;
  expect_refused("and \"none\"", [&] { count_of_rows(folder_of({runs})); });
}

TEST(ComparedRows, AreNamedByWhatTellsThemApart) {
  const auto at_rate = [](const char* rate) {
    return [rate](Summary& summary) {
      summary.sweep = {{"training.batch_size", "32"}, {"training.rate", rate}};
    };
  };
  const auto with_mu = [](Summary& summary) { summary.sweep = {{"algorithms.fedprox.mu", "0.1"}}; };
  EXPECT_THAT(
      names_of({folder_of({row_of("fedavg", {0.5}, at_rate("0.1")), row_of("fedavg", {0.5}, at_rate("0.2")),
                           row_of("fedprox", {0.5}, with_mu)})}),
      ElementsAre("fedprox, mu=0.1", "fedavg (training.rate=0.1)", "fedavg (training.rate=0.2)"));
  const auto on_letters = [](Summary& summary) { summary.dataset = "letters"; };
  EXPECT_THAT(names_of({folder_of({row_of("fedavg", {0.5}), row_of("fedavg", {0.5}, on_letters)})}),
              ElementsAre("fedavg (data set digits)", "fedavg (data set letters)"));
  EXPECT_THAT(names_of({folder_of({row_of("fedavg", {0.5}), row_of("fedavg", {0.5}, on_letters)}),
                        folder_of({row_of("fedavg", {0.6}, {[](Summary&) {}}, "runs/b")}, "runs/b")}),
              ElementsAre("fedavg (data set digits, runs/a)", "fedavg (data set digits, runs/b)",
                          "fedavg (data set letters)"));
}

TEST(ComparedRows, CountARunOnceThatLiesBelowTwoFolders) {
  const Scratch scratch;
  for (const int seed : {1, 2}) {
    const std::string run = fmt::format("runs/fedavg-seed-{}/", seed);
    scratch.write(run + "summary.json", to_json_text(finished("fedavg", seed, 0.5)));
    scratch.write(run + "experiment.toml", "");
  }
  const std::vector<std::filesystem::path> folders = {scratch / "runs/fedavg-seed-2/", scratch / "runs",
                                                      scratch / "runs"};
  const std::vector<FoundRun> found = find_runs(folders);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].folder, scratch / "runs");
  EXPECT_EQ(found[1].folder, scratch / "runs/fedavg-seed-2");
  EXPECT_EQ(found[1].folder_place, 0);
}

TEST(ComparedRows, HaveTheirOwnValuesOfWhatAGridGivesToOthers) {
  const Scratch scratch;
  for (const std::string rate : {"0.1", "0.2"}) {
    Summary summary = finished("fedavg", 1, 0.5);
    if (rate == "0.1") summary.sweep = {{"training.rate", rate}};
    scratch.write(rate + "/summary.json", to_json_text(summary));
    scratch.write(rate + "/experiment.toml", "[[algorithms]]\nrate = " + rate + "\n");
  }
  std::vector<FoundRun> runs = find_runs(std::vector{scratch.path()});
  fill_in_swept(runs);
  EXPECT_THAT(names_of({runs}), ElementsAre("fedavg (training.rate=0.1)", "fedavg (training.rate=0.2)"));
}

}  // namespace
}  // namespace fedarena::results
