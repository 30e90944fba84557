#include "results/plot/choice_plot.hpp"

#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/matchers.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

using Taken = Choices::Taken;

// Rounds 1, 2 and 4: client 5 changes from model 2 to model 0, client 7 stays with 2, client 9 comes once.
std::vector<RoundRecord> four_rounds() {
  std::vector<RoundRecord> rounds;
  for (std::int64_t round = 1; round <= 4; ++round) rounds.push_back(round_record(round));
  rounds[0].choices = {{5, 2}, {7, 2}};
  rounds[1].choices = {{5, 0}, {9, 0}};
  rounds[3].choices = {{5, 0}, {7, 2}};
  return rounds;
}

TEST(ClientChoices, AreOrderedByTheModelTakenMostOften) {
  const Choices choices = choices_of(four_rounds());
  EXPECT_THAT(choices.models, ElementsAre(0, 2));
  EXPECT_THAT(choices.rounds, ElementsAre(1, 2, 4));
  ASSERT_THAT(choices.rows, SizeIs(3));
  EXPECT_EQ(choices.rows[0].client, 5);
  EXPECT_THAT(choices.rows[0].taken, ElementsAre(Taken{0, 2}, Taken{1, 0}, Taken{2, 0}));
  EXPECT_EQ(choices.rows[1].client, 9);
  EXPECT_THAT(choices.rows[1].taken, ElementsAre(Taken{1, 0}));
  EXPECT_EQ(choices.rows[2].client, 7);
  EXPECT_THAT(choices.rows[2].taken, ElementsAre(Taken{0, 2}, Taken{2, 2}));
  EXPECT_EQ(
      choices_text(choices),
      "3 clients; 1 of the 2 that took part more than once always took the same model; last, 2 model 0, "
      "1 model 2");
  EXPECT_THAT(choices_of({}).rows, IsEmpty());
}

TEST(ClientChoices, AreDrawnModelByModel) {
  const std::string script = choices_script({"a `b`", choices_of(four_rounds())}, kSvgTerminal);
  EXPECT_THAT(script,
              has_all("$model0 << END\n2 0\n4 0\n2 1\nEND\n", "$model2 << END\n1 0\n1 2\n4 2\nEND\n"));
  EXPECT_THAT(script, Not(HasSubstr("$model1")));
  EXPECT_THAT(script, has_all("set ytics ('5' 0, '9' 1, '7' 2)", "set xrange [0.5:4.5]"));
  EXPECT_THAT(script, HasSubstr("set xtics 1\n")) << "no mark between two rounds";
  EXPECT_THAT(script, Not(HasSubstr("`")));
  EXPECT_THAT(run_gnuplot(script), HasSubstr("</svg>"));
}

// A record may name any model; what is drawn must not grow with its number.
TEST(ClientChoices, MayBeOfAnyNumber) {
  std::vector<RoundRecord> rounds = four_rounds();
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  rounds[0].choices = {{1, kLargest}};
  const Choices choices = choices_of(rounds);
  EXPECT_THAT(choices.models, ElementsAre(0, 2, kLargest));
  EXPECT_THAT(choices_script({"a", choices}, kSvgTerminal),
              HasSubstr(fmt::format("$model{} << END\n1 ", kLargest)));
  rounds[1].choices.clear();
  for (std::int64_t client = 0; client < 1001; ++client) rounds[1].choices.push_back({client, 0});
  expect_refused("1001 clients cannot be told apart in one picture", [&] {
    choices_script({"a", choices_of(rounds)}, kSvgTerminal);
  });
}

class ChoicesOfRuns : public ::testing::Test {
 protected:
  void record(std::int64_t seed, bool choose) const {
    write_run(folder() / fmt::format("ifca-{}", seed), "ifca", seed, 0.5,
              {.round =
                   [&](RoundRecord& round) {
                     if (choose)
                       round.choices = four_rounds().at(static_cast<std::size_t>(round.round) - 1).choices;
                   }},
              4);
  }
  std::filesystem::path folder() const { return scratch_ / "runs"; }
  RunChoices found() const { return find_choices(find_runs(std::vector{folder()})); }

 private:
  Scratch scratch_;
};

TEST_F(ChoicesOfRuns, AreThoseOfTheOneRunThatHasSome) {
  record(1, false);
  expect_refused("in no finished run did clients choose", [&] { found(); });
  std::vector<FoundRun> runs = find_runs(std::vector{folder()});
  runs[0] = {.path = runs[0].path, .summary = {}, .problem = "rounds.jsonl:1: model is -1"};
  expect_refused("rounds.jsonl:1: model is -1; not counted", [&] { find_choices(runs); });
  record(2, true);
  runs.push_back(find_runs(std::vector{folder()}).back());
  EXPECT_THAT(find_choices(runs).notes, ElementsAre(HasSubstr("ifca-1: rounds.jsonl:1: model is -1")));
  const RunChoices one = found();
  EXPECT_EQ(one.name, "ifca, seed 2");
  const auto json = nlohmann::json::parse(choices_json(one));
  EXPECT_EQ(json["clients"][1],
            nlohmann::json::parse(R"({"client": 9, "taken": [{"round": 2, "model": 0}]})"));
  record(3, true);
  expect_refused(has_all("2 runs hold choices", "runs/ifca-2", "runs/ifca-3"), [&] { found(); });
}

}  // namespace
}  // namespace fedarena::results
