#include "results/table/column_selection.hpp"

#include <fmt/ranges.h>

#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

Table column_selection_sample() {
  return make_table(std::vector{found(finished_privately("dp-fedavg", 1, 0.5))});
}

TEST(ColumnSelection, KeepsTheGivenOrderAndKnowsEveryName) {
  EXPECT_THAT(parse_selection("seconds,accuracy, epsilon "),
              ElementsAre(TableColumn::kSeconds, TableColumn::kResult, TableColumn::kEpsilon));
  EXPECT_THAT(
      to_markdown(reader_table(column_selection_sample(), parse_selection("seconds,accuracy,epsilon"))),
      HasSubstr("| algorithm | seconds | accuracy (%) | epsilon (RDP) | epsilon (PLD) | delta | unit   "
                "| adjacency |\n"));
  const std::string all = fmt::format("{}", fmt::join(column_names(), ","));
  EXPECT_EQ(parse_selection(all).size(), column_names().size());
  EXPECT_THAT(to_markdown(reader_table(column_selection_sample(), parse_selection(all))),
              HasSubstr("|   uplink | downlink | total uplink | total downlink | seconds |"));
}

TEST(ColumnSelection, LeavesNoNameOfItsOwnToObservations) {
  for (const char* name : {"epsilon", "epsilon-rdp", "Epsilon", "my_epsilon", "delta", "loss", "test_loss",
                           "macro_f1", "class:3", "round", "best_client_accuracy", "unit", "adjacency",
                           "policy", "budget", "public-data", "label", "seed", "total-uplink"})
    EXPECT_TRUE(is_reserved(name)) << name;
  for (const char* name : {"radius", "matching-loss", "delta-norm", "hypothesis-0", "distance", "agreement",
                           "labelled", "votes", "vote-crossings", "private-gradients", "generator-loss"})
    EXPECT_FALSE(is_reserved(name)) << name;
}

// An epsilon says nothing without them.
TEST(ColumnSelection, SaysWhatAnEpsilonIsOfOnceWhereRowsAgree) {
  Summary other = finished_privately("dp-fedprox", 1, 0.5);
  const auto shown = [&](const char* columns) {
    return to_markdown(
        reader_table(make_table(std::vector{found(finished_privately("dp-fedavg", 1, 0.5)), found(other)}),
                     parse_selection(columns)));
  };
  EXPECT_THAT(shown("epsilon-rdp"), HasSubstr("| algorithm  | epsilon (RDP) |\n"));
  EXPECT_THAT(shown("epsilon-pld"),
              HasSubstr("\nEpsilon (delta 1e-5, unit record, adjacency zero-out): upper "));
  other.privacy->settings.delta = 1e-6;
  EXPECT_THAT(shown("epsilon-rdp,epsilon-pld"),
              HasSubstr("| algorithm  | epsilon (RDP) | delta | epsilon (PLD) |\n"));
  EXPECT_THAT(shown("epsilon-rdp"), HasSubstr("\nEpsilon (unit record, adjacency zero-out): upper "));
}

TEST(ColumnSelection, ShowsTheNoiseOfThePolicy) {
  Summary summary = finished_privately("dp-fedavg", 1, 0.5);
  summary.policy_settings = {{"clip_norm", "1.0"}, {"noise_multiplier", "2.065"}};
  const std::vector<FoundRun> runs = {found(summary), found(finished("fedavg", 1, 0.5))};
  const std::string text = to_markdown(reader_table(make_table(runs), parse_selection("noise,clip-norm")));
  EXPECT_THAT(text, has_all("| algorithm | noise multiplier | clip norm |\n",
                            "| dp-fedavg | 2.065            | 1         |\n",
                            "| fedavg    | -                | -         |\n"));
}

TEST(ColumnSelection, RefusesAnEmptyName) {
  const auto refused = [](const std::string& text) { return message_of([&] { parse_selection(text); }); };
  EXPECT_THAT(refused(""), HasSubstr("--columns: \"\" is unknown"));
  EXPECT_THAT(refused("accuracy,"), HasSubstr("--columns: \"\" is unknown"));
}

TEST(ColumnSelection, DefaultsToNoCostsOfComputing) {
  const Table table = column_selection_sample();
  EXPECT_EQ(default_selection(table),
            parse_selection("rounds,seeds,accuracy,epsilon,uplink,downlink,seconds"));
  EXPECT_EQ(to_markdown(reader_table(table)), to_markdown(reader_table(table, default_selection(table))));
  EXPECT_THAT(to_markdown(reader_table(table, parse_selection("clients"))),
              HasSubstr("|           - |                - |        - |          - |"));
}

TEST(ColumnSelection, IsExplainedByALegendOfItsColumnsAlone) {
  const Table table = column_selection_sample();
  const auto legend_of = [&](const std::string& columns) { return legend(table, parse_selection(columns)); };
  EXPECT_THAT(legend_of("seconds"), EndsWith(" Seconds: per run."));
  EXPECT_EQ(legend_of("uplink"), "Uplink: bytes per client and round.");
  EXPECT_EQ(legend_of("downlink"), "Downlink: bytes per client and round.");
  EXPECT_EQ(legend_of("total-downlink,total-uplink"),
            "Total uplink and total downlink: bytes of all clients in a run.");
  EXPECT_EQ(legend_of("seeds"), "");
  EXPECT_THAT(legend_of("examples"), Not(HasSubstr("Operations")));
}

}  // namespace
}  // namespace fedarena::results
