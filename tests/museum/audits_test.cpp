// Exhibit 17: three mistakes in the p-value of an audit in one run. Each claims more than the truth in many
// more than one honest run of twenty. The runs are fixed by their seeds; by chance alone, 1,000 runs of which
// 5 % claim too much have more than 72 that do with probability 0.001.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/accounting/audit_bound.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {
namespace {

constexpr int kAuditedRuns = 1000;
constexpr int kMostByChance = 72;

using Guess = std::pair<double, bool>;  // how sure, and whether it is right

// Guesses of a run that reveals nothing but, of each canary, with probability delta all: (0, delta) privacy.
std::vector<Guess> guesses_of(std::uint64_t run, std::int64_t canaries, double delta) {
  Stream draws({.seed = run, .purpose = Purpose::kAudit});
  std::vector<Guess> guesses;
  for (std::int64_t i = 0; i < canaries; ++i) {
    const bool told = draws.uniform() < delta;
    const double sure = draws.uniform();
    const bool right = draws.uniform() < 0.5;
    guesses.emplace_back(told ? 2 : sure, told || right);
  }
  std::ranges::stable_sort(guesses, std::greater<>(), &Guess::first);
  return guesses;
}

std::int64_t right_of(const std::vector<Guess>& guesses, std::int64_t count) {
  return std::count_if(guesses.begin(), guesses.begin() + count, [](const Guess& one) { return one.second; });
}

// In how many of the runs, whose epsilon is 0, more is claimed.
int runs_that_claim(const std::function<bool(std::uint64_t run)>& claims) {
  int count = 0;
  for (std::uint64_t run = 0; run < kAuditedRuns; ++run) count += claims(run) ? 1 : 0;
  return count;
}

// The best of a grid of guesses, each tried on the same data.
TEST(AuditMistakes, TheBestOfAGridClaimsTooMuch) {
  constexpr std::int64_t kCanaries = 1000;
  const auto bound = [](const std::vector<Guess>& guesses, std::int64_t count) {
    return audit_lower_bound(kCanaries, count, right_of(guesses, count), 0);
  };
  const int fixed =
      runs_that_claim([&](std::uint64_t run) { return bound(guesses_of(run, kCanaries, 0), 200) > 0; });
  const int best = runs_that_claim([&](std::uint64_t run) {
    const std::vector<Guess> guesses = guesses_of(run, kCanaries, 0);
    for (std::int64_t count = 10; count <= kCanaries; count += 10) {
      if (bound(guesses, count) > 0) return true;
    }
    return false;
  });
  EXPECT_LE(fixed, kMostByChance);
  EXPECT_GT(best, 250);
}

// Ten of a thousand canaries are revealed outright, which delta allows: ten guesses can all be right.
TEST(AuditMistakes, WithoutTheTermOfDeltaClaimsTooMuch) {
  constexpr std::int64_t kCanaries = 1000, kGuesses = 10;
  constexpr double kDelta = 0.01;
  const auto claims = [&](double delta) {
    return runs_that_claim([&](std::uint64_t run) {
      const std::int64_t right = right_of(guesses_of(run, kCanaries, kDelta), kGuesses);
      return audit_lower_bound(kCanaries, kGuesses, right, delta) > 0;
    });
  };
  EXPECT_LE(claims(kDelta), kMostByChance);
  EXPECT_GT(claims(0), 800);
}

// The probability of that many right guesses, divided by their number as if it were the other term.
TEST(AuditMistakes, ThePValueDividedByTheGuessesClaimsTooMuch) {
  constexpr std::int64_t kCanaries = 200, kGuesses = 40;
  const auto claims = [&](double divisor) {
    return runs_that_claim([&](std::uint64_t run) {
      const std::int64_t right = right_of(guesses_of(run, kCanaries, 0), kGuesses);
      return audit_p_value(kCanaries, kGuesses, right, 0, 0) / divisor < 0.05;
    });
  };
  EXPECT_LE(claims(1), kMostByChance);
  EXPECT_GT(claims(kGuesses), 950);
}

}  // namespace
}  // namespace fedarena
