// Rules that end a run early, by validation examples.
#include "results/record/validation.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena::results {
namespace {

RoundRecord round_of(std::int64_t number, std::optional<double> validation_accuracy) {
  RoundRecord record;
  record.round = number;
  record.test_accuracy = 1;  // which no rule may look at
  record.validation_accuracy = validation_accuracy;
  return record;
}

// The round at which the rule stops a run of these accuracies, and the rule; 0 when it goes on.
std::pair<std::int64_t, std::string> stop_of(const StoppingLimits& limits,
                                             const std::vector<std::optional<double>>& accuracies) {
  StoppingRule rule(limits, 1);
  for (std::size_t index = 0; index < accuracies.size(); ++index) {
    const auto number = static_cast<std::int64_t>(index) + 1;
    rule.see(round_of(number, accuracies[index]));
    if (!rule.stopped().empty()) return {number, rule.stopped()};
  }
  return {0, ""};
}

using Stop = std::pair<std::int64_t, std::string>;

TEST(StoppingRule, WithoutSettingsNeverStops) {
  EXPECT_EQ(stop_of({}, {0.1, 0.1, 0.1, 1.0, 0.0}), Stop(0, ""));
}

TEST(StoppingRule, StopsAtTheTarget) {
  EXPECT_EQ(stop_of({.target_accuracy = 0.5}, {0.1, 0.4, 0.5, 0.9}), Stop(3, "target"));
  EXPECT_EQ(stop_of({.target_accuracy = 0.5}, {0.1, std::nullopt, 0.4}), Stop(0, ""));
}

TEST(StoppingRule, StopsWhenPatienceRunsOut) {
  EXPECT_EQ(stop_of({.patience = 2}, {0.1, 0.3, 0.2, 0.3, 0.9}), Stop(4, "patience"));
  EXPECT_EQ(stop_of({.patience = 2}, {0.1, 0.3, 0.2, 0.31, 0.2, 0.31}), Stop(6, "patience"));
  // An improvement that is too small is none.
  EXPECT_EQ(stop_of({.patience = 2, .improvement = 0.05}, {0.1, 0.3, 0.32, 0.34}), Stop(4, "patience"));
  // Rounds count, also those between evaluations.
  EXPECT_EQ(stop_of({.patience = 3}, {0.5, std::nullopt, std::nullopt, 0.4}), Stop(4, "patience"));
}

TEST(StoppingRule, DoesNotSeeWhatIsEvaluatedOutOfTurn) {
  StoppingRule rule({.patience = 1}, 2);
  rule.see(round_of(2, 0.5));
  rule.see(round_of(3, 0.4));
  EXPECT_EQ(rule.stopped(), "");
  EXPECT_EQ(rule.last_round(), 0);
  rule.see(round_of(4, 0.4));
  EXPECT_EQ(rule.stopped(), "patience");
  rule.see(round_of(6, 0.9));
  EXPECT_EQ(rule.last_round(), 4);
}

// Who guesses one class of many may be right often enough.
TEST(StoppingRule, IsNotReachedByWhatDiverged) {
  StoppingRule rule({.target_accuracy = 0.5}, 1);
  RoundRecord diverged = round_of(1, 0.9);
  diverged.validation_loss = std::nan("");
  rule.see(diverged);
  EXPECT_EQ(rule.stopped(), "");
  rule.see(round_of(2, 0.6));
  EXPECT_EQ(rule.stopped(), "target");
}

// On regression data: the round at which patience of two ends a run of these validation losses; 0: it goes
// on.
std::int64_t stop_by_losses(double improvement, const std::vector<double>& losses) {
  StoppingRule rule({.target_accuracy = 0.1, .patience = 2, .improvement = improvement}, 1);
  for (std::size_t index = 0; index < losses.size(); ++index) {
    RoundRecord round = round_of(static_cast<std::int64_t>(index) + 1, std::nullopt);
    round.validation_loss = losses[index];
    rule.see(round);
    if (rule.stopped() == "patience") return round.round;
    EXPECT_EQ(rule.stopped(), "");
  }
  return 0;
}

TEST(StoppingRule, LooksAtLossesWhereThereAreNoAccuracies) {
  EXPECT_EQ(stop_by_losses(0, {9, 7, 8, 6.5, 6.4, 6.3}), 0);
  EXPECT_EQ(stop_by_losses(0, {9, 7, 8, 7, 1}), 4) << "an equal loss is no better one";
  EXPECT_EQ(stop_by_losses(0.1, {10, 9.1, 9.05, 1}), 3) << "a tenth of the best one is asked for";
  EXPECT_EQ(stop_by_losses(0.1, {10, 8.9, 8.8, 8.0, 7.9}), 0);
  const double nan = std::nan("");
  EXPECT_EQ(stop_by_losses(0, {nan, 5, nan, 4, nan, nan}), 6) << "what diverged is never better";
}

// A model that answers nothing has an accuracy, too: a tenth of ten classes.
TEST(StoppingRule, TakesNoAccuracyOfWhatDivergedForABetterOne) {
  StoppingRule rule({.patience = 2}, 1);
  const auto see = [&](std::int64_t number, double accuracy, double loss) {
    RoundRecord round = round_of(number, accuracy);
    round.validation_loss = loss;
    rule.see(round);
    return rule.stopped();
  };
  EXPECT_EQ(see(1, 0.3, std::nan("")), "");
  EXPECT_EQ(see(2, 0.1, 2.3), "") << "better than what diverged before";
  EXPECT_EQ(see(3, 0.2, std::nan("")), "");
  EXPECT_EQ(see(4, 0.2, kInfinity), "patience");
}

TEST(StoppingRule, PrefersTheTargetWhereBothHold) {
  EXPECT_EQ(stop_of({.target_accuracy = 0.4, .patience = 1}, {0.3, 0.3}), Stop(2, "patience"));
  EXPECT_EQ(stop_of({.target_accuracy = 0.3, .patience = 1, .improvement = 0.5}, {0.2, 0.3}),
            Stop(2, "target"));
}

}  // namespace
}  // namespace fedarena::results
