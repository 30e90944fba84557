// Published figures beside those of the runs.
#include "results/table/published.hpp"

#include <nlohmann/json.hpp>

#include "results/table/row_values.hpp"
#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// Two algorithms on two Dirichlet partitions of a grid, one seed each.
std::vector<FoundRun> published_grid() {
  std::vector<FoundRun> runs;
  for (const std::string alpha : {"0.1", "1.0"}) {
    for (const std::string label : {"fedavg", "fedprox"}) {
      Summary summary = finished(label, 1, 0.5);
      summary.partition = "dirichlet (clients = 10, alpha = " + alpha + ")";
      summary.sweep = {{"partition.alpha", alpha}};
      summary.algorithm_parameters = {{"mu", "0.01"}, {"schedule", "\"constant\""}};
      runs.push_back(found(summary, "alpha-" + alpha));
    }
  }
  return runs;
}

PublishedFigure figure(const std::vector<std::pair<std::string, std::string>>& keys, double mean,
                       int line = 3) {
  PublishedFigure result{.place = {"refs.toml", line, 5}, .mean = mean};
  for (const auto& [name, value] : keys)
    result.keys.push_back({.name = name, .value = value, .place = {"refs.toml", line, 7}});
  return result;
}

References references(std::vector<PublishedFigure> figures) {
  return {.file = "refs.toml",
          .sources = {{.text = "Doe 2022, Table 3.", .metric = {.text = "accuracy"}}},
          .figures = std::move(figures)};
}

std::string refused(const std::vector<FoundRun>& runs, const References& what) {
  return message_of([&] {
    Table table = make_table(runs);
    add_published(table, what);
  });
}

TEST(RowValues, AreThoseOfTheExperimentFile) {
  const Table table = make_table(published_grid());
  const Row& row = table.rows.front();
  EXPECT_EQ(row_value(row, "partition"), "dirichlet (clients = 10, alpha = 0.1)");
  EXPECT_EQ(row_value(row, "partition.kind"), "dirichlet");
  EXPECT_EQ(row_value(row, "partition.alpha"), "0.1");
  EXPECT_EQ(row_value(row, "partition.clients"), "10");
  EXPECT_EQ(row_value(row, "dataset"), "digits");
  EXPECT_EQ(row_value(row, "label"), "fedavg");
  EXPECT_EQ(row_value(row, "mu"), "0.01");
  EXPECT_EQ(row_value(row, "schedule"), "constant") << "without quotes";
  EXPECT_EQ(row_value(row, "rounds"), "20");
  EXPECT_EQ(row_value(row, "epsilon"), "none");
  const Table own = make_table(std::vector{found(finished_privately("dp-fedavg", 1, 0.5))});
  EXPECT_EQ(row_value(own.rows.front(), "epsilon"), "2.79");
  EXPECT_EQ(row_value(own.rows.front(), "delta"), "1e-5");
}

TEST(RowValues, AreFoundUnderOtherSpellingsOfTheirKeys) {
  const std::vector<std::string> keys = row_keys(make_table(published_grid()));
  EXPECT_EQ(find_row_key(keys, "data set"), "dataset");
  EXPECT_EQ(find_row_key(keys, "experiment.name"), "experiment");
  EXPECT_EQ(find_row_key(keys, "alpha"), "partition.alpha");
  EXPECT_EQ(find_row_key(keys, "algorithms.mu"), "mu");
  EXPECT_EQ(find_row_key(keys, "training.mu"), "mu");
  EXPECT_EQ(find_row_key(keys, "training.um"), std::nullopt);
  EXPECT_EQ(find_row_key(keys, "alhpa"), std::nullopt);
  EXPECT_EQ(message_of([] {
              find_row_key({"data.noise", "partition.noise"}, "noise");
            }),
            "\"noise\" is the end of several keys; allowed: data.noise, partition.noise");
}

TEST(RowValues, AreEqualAsTextsAsNumbersAndByTheNameOfAChoice) {
  const Table table = make_table(published_grid());
  const Row& row = table.rows.back();
  EXPECT_TRUE(has_value(row, "partition.alpha", "1"));
  EXPECT_TRUE(has_value(row, "partition.alpha", "1.0"));
  EXPECT_FALSE(has_value(row, "partition.alpha", "1.5"));
  EXPECT_TRUE(has_value(row, "partition", "dirichlet"));
  EXPECT_TRUE(has_value(row, "partition", "dirichlet (clients = 10, alpha = 1.0)"));
  EXPECT_FALSE(has_value(row, "partition", "dirich"));
  EXPECT_FALSE(has_value(row, "label", "fed"));
}

TEST(RowValues, TellRowsApartByTheMostExactKeys) {
  const Table table = make_table(published_grid());
  EXPECT_THAT(keys_that_differ(table.rows[0], table.rows[2]), ElementsAre("partition.alpha"));
  EXPECT_THAT(keys_that_differ(table.rows[0], table.rows[3]), ElementsAre("label", "partition.alpha"));
}

// Under its path, with and without a grid that gives it.
TEST(Published, FindsASettingOfTheTrainingInAnyRow) {
  const auto run = [](const std::string& label, const Sweep& sweep) {
    Summary summary = finished(label, 1, 0.5);
    summary.sweep = sweep;
    summary.algorithm_parameters = {{"rate", label == "a" ? "0.1" : "0.2"}};
    return found(summary);
  };
  for (const Sweep& sweep : {Sweep{}, Sweep{{"training.rate", "0.2"}}}) {
    Table table = make_table(std::vector{run("a", {}), run("b", sweep)});
    add_published(
        table, references({figure({{"training.rate", "0.1"}}, 45), figure({{"training.rate", "0.2"}}, 50)}));
    for (const Row& row : table.rows) EXPECT_EQ(row.published->mean, row.label == "a" ? 45 : 50);
  }
}

TEST(Published, StandsBesideItsRow) {
  Table table = make_table(published_grid());
  PublishedFigure first = figure({{"alpha", "0.1"}, {"label", "fedavg"}}, 45.25);
  first.std = 6.9;
  first.n = 3;
  add_published(table, references({first, figure({{"alpha", "1"}, {"label", "fedprox"}}, 72)}));
  EXPECT_THAT(
      to_markdown(reader_table(table)),
      has_all("| partition.alpha | algorithm | rounds | seeds | accuracy (%) "
              "| published (%) | epsilon |",
              "|    **50.00** |   45.25 ± 6.9 |", "|    **50.00** |            72 |", "|             - |"));
  EXPECT_THAT(table.notes, Contains("published: Doe 2022, Table 3; n = 3 where it is said"));
  EXPECT_THAT(to_latex(reader_table(table)),
              HasSubstr("Published: the figures of others, as the notes say;"));
  EXPECT_THAT(render_csv(table), HasSubstr(",0.4525,0.069,3,\"Doe 2022, Table 3.\",,,,,\n"));
  const auto json = nlohmann::json::parse(render_json(table));
  EXPECT_EQ(json["rows"][0]["published"]["mean"], 0.4525);
  EXPECT_EQ(json["rows"][0]["published"]["n"], 3);
  EXPECT_TRUE(json["rows"][1]["published"].is_null());
}

TEST(Published, IsNeverMarkedAsTheBestNorMakesARowOne) {
  Table table = make_table(published_grid());
  const Table before = table;
  add_published(table, references({figure({{"alpha", "0.1"}, {"label", "fedavg"}}, 99)}));
  for (std::size_t i = 0; i < table.rows.size(); ++i) EXPECT_EQ(table.rows[i].best, before.rows[i].best);
}

TEST(Published, OfSeveralSourcesSaysWhoseEachFigureIs) {
  Table table = make_table(published_grid());
  References two = references({figure({{"alpha", "0.1"}, {"label", "fedavg"}}, 45),
                               figure({{"alpha", "1"}, {"label", "fedavg"}}, 46)});
  two.sources.push_back(
      {.text = "Roe", .metric = {.text = "accuracy"}, .selection = "best round on the test set"});
  two.figures[1].source = 1;
  add_published(table, two);
  EXPECT_THAT(to_markdown(reader_table(table)), has_all("45 [1] |", "46 [2] |"));
  EXPECT_THAT(table.notes, Contains("published [1]: Doe 2022, Table 3"));
  EXPECT_THAT(table.notes, Contains("published [2]: Roe; theirs is the best round on the test set"));
}

TEST(Published, UnderAKeyThatThereIsNotIsRefused) {
  EXPECT_THAT(refused(published_grid(), references({figure({{"lable", "fedavg"}}, 45)})),
              has_all("refs.toml:3:7: no row has a key \"lable\"; allowed: ", "did you mean \"label\"?"));
}

TEST(Published, ThatMatchesNoRowIsRefusedWhereNoneDoes) {
  EXPECT_EQ(
      refused(published_grid(),
              references({figure({{"label", "fedagv"}}, 45), figure({{"label", "nova"}}, 45)})),
      "refs.toml:3:5: none of the 2 figures matches a row of the table: no row has label = \"fedagv\" (did "
      "you mean \"fedavg\"?)");
}

// A file of several data sets serves the table of one.
TEST(Published, ThatMatchesNoRowIsNotedWhereOthersDo) {
  Table table = make_table(published_grid());
  add_published(table, references({figure({{"alpha", "1"}, {"label", "fedavg"}}, 45),
                                   figure({{"dataset", "cifar10"}, {"label", "fedavg"}}, 46, 4),
                                   figure({{"dataset", "cifar10"}, {"label", "fedprox"}}, 47, 5),
                                   figure({{"partition.classes_per_client", "2"}}, 48, 6),
                                   figure({{"label", "fedavg"}, {"alpha", "0.1"}, {"mu", "0.02"}}, 48, 7)}));
  EXPECT_THAT(table.notes,
              Contains("2 published figures match no row: no row has dataset = \"cifar10\" (the first "
                       "at refs.toml:4:5)"));
  EXPECT_THAT(table.notes,
              Contains("1 published figure matches no row: no row has partition.classes_per_client = "
                       "\"2\" (at refs.toml:6:5)"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("no row has mu = \"0.02\"")));
}

// The rows have 50 %.
TEST(Published, AsAFractionBesidePercentIsRefusedWithThePercent) {
  PublishedFigure fraction = figure({{"alpha", "1"}, {"label", "fedavg"}}, 0.7955);
  fraction.std = 0.004;
  EXPECT_EQ(
      refused(published_grid(), references({fraction})),
      "refs.toml:3:5: mean is 0.7955, a fraction, where fedavg (partition.alpha=1.0) on digits has 50.00 "
      "%; allowed: percent\n  write mean = 79.55 and std = 0.4");
}

// 79.55 % is farther from 5 % than 0.7955 % is, but a source without any larger figure has fractions.
TEST(Published, AsAFractionIsRefusedBesideARowThatIsFarOffIfItsSourceHasNoPercent) {
  PublishedFigure fraction = figure({{"label", "fedavg"}}, 0.7955);
  const std::vector<FoundRun> bad = {found(finished("fedavg", 1, 0.05)), found(finished("fedprox", 1, 0.05))};
  EXPECT_THAT(refused(bad, references({fraction})), HasSubstr("mean is 0.7955, a fraction, where fedavg"));
  // As bad as chance among a hundred classes.
  Table table = make_table(bad);
  add_published(table, references({fraction, figure({{"label", "fedprox"}}, 35)}));
  EXPECT_EQ(table.rows[0].published->mean, 0.7955);
}

// 0.9 % is nearer to 0.5 % than 90 % would be.
TEST(Published, BelowOnePercentStandsBesideARowThatIsAsBad) {
  Table table = make_table(std::vector{found(finished("fedavg", 1, 0.005))});
  add_published(table, references({figure({{"label", "fedavg"}}, 0.9)}));
  EXPECT_EQ(table.rows[0].published->mean, 0.9);
}

TEST(Published, OfAnotherMetricIsRefused) {
  References loss = references({figure({{"alpha", "1"}, {"label", "fedavg"}}, 45)});
  loss.sources[0].metric = parse_round_metric("loss");
  EXPECT_EQ(refused(published_grid(), loss),
            "refs.toml:3:5: the one figure does not match a row of the table: the table does not show loss");
  loss.sources[0].metric = parse_round_metric("accuracy@round=3");
  EXPECT_THAT(refused(published_grid(), loss), HasSubstr("the table does not show accuracy@round=3"));
}

TEST(Published, ChangesNoTableWithoutRows) {
  Table table = make_table({});
  add_published(table, references({figure({{"label", "fedavg"}}, 45)}));
  EXPECT_TRUE(table.notes.empty());
}

}  // namespace
}  // namespace fedarena::results
