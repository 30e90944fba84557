// Rules that end a run early, by validation accuracies.
#include "harness/runner/stopping.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace fedarena {
namespace {

results::RoundRecord round_of(std::int64_t number, std::optional<double> validation_accuracy) {
  results::RoundRecord record;
  record.round = number;
  record.test_accuracy = 1;  // which no rule may look at
  record.validation_accuracy = validation_accuracy;
  return record;
}

// The round at which the rule stops a run of these accuracies, and the rule; 0 when it goes on.
std::pair<std::int64_t, std::string> stop_of(const Stopping& settings,
                                             const std::vector<std::optional<double>>& accuracies) {
  StoppingRule rule(settings);
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

TEST(StoppingRule, PrefersTheTargetWhereBothHold) {
  EXPECT_EQ(stop_of({.target_accuracy = 0.4, .patience = 1}, {0.3, 0.3}), Stop(2, "patience"));
  EXPECT_EQ(stop_of({.target_accuracy = 0.3, .patience = 1, .improvement = 0.5}, {0.2, 0.3}),
            Stop(2, "target"));
}

}  // namespace
}  // namespace fedarena
