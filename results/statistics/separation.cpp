#include "results/statistics/separation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fedarena/base/stream.hpp"

namespace fedarena::results {
namespace {

// How many examples have one score.
struct Tie {
  std::int64_t positives = 0, negatives = 0;
};

// All scores, the highest first, and to which tie each example belongs.
struct Ranking {
  std::vector<Tie> ties;
  std::vector<std::size_t> positives, negatives;
};

Ranking rank(std::span<const double> positives, std::span<const double> negatives) {
  struct Example {
    double score;
    std::size_t* tie;
    std::int64_t Tie::*kind;
  };
  Ranking ranking{.ties = {},
                  .positives = std::vector<std::size_t>(positives.size()),
                  .negatives = std::vector<std::size_t>(negatives.size())};
  std::vector<Example> examples;
  for (std::size_t i = 0; i < positives.size(); ++i)
    examples.push_back({positives[i], &ranking.positives[i], &Tie::positives});
  for (std::size_t i = 0; i < negatives.size(); ++i)
    examples.push_back({negatives[i], &ranking.negatives[i], &Tie::negatives});
  std::ranges::sort(examples, std::ranges::greater(), &Example::score);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i == 0 || examples[i].score != examples[i - 1].score) ranking.ties.emplace_back();
    *examples[i].tie = ranking.ties.size() - 1;
    ++(ranking.ties.back().*examples[i].kind);
  }
  return ranking;
}

// In whole numbers up to the one division.
double area(std::span<const Tie> ties, std::int64_t positives, std::int64_t negatives) {
  std::int64_t doubled = 0, above = 0;
  for (const Tie& tie : ties) {
    doubled += tie.negatives * (2 * above + tie.positives);
    above += tie.positives;
  }
  return static_cast<double>(doubled) / (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

Interval bootstrap(const Ranking& ranking, std::uint64_t seed) {
  Stream draws({.seed = seed, .purpose = Purpose::kAttack, .index = 0});
  std::vector<double> areas;
  std::vector<Tie> ties(ranking.ties.size());
  const auto draw = [&](const std::vector<std::size_t>& examples, std::int64_t Tie::*kind) {
    for (std::size_t i = 0; i < examples.size(); ++i) ++(ties[examples[draws.below(examples.size())]].*kind);
  };
  for (int i = 0; i < kAreaResamples; ++i) {
    std::ranges::fill(ties, Tie());
    draw(ranking.positives, &Tie::positives);
    draw(ranking.negatives, &Tie::negatives);
    areas.push_back(area(ties, std::ssize(ranking.positives), std::ssize(ranking.negatives)));
  }
  std::ranges::sort(areas);
  const auto beyond = static_cast<std::size_t>((1 - kIntervalLevel) / 2 * kAreaResamples);
  return {.low = areas[beyond], .high = areas[areas.size() - 1 - beyond]};
}

bool has_nan(std::span<const double> scores) {
  return std::ranges::any_of(scores, [](double score) { return std::isnan(score); });
}

}  // namespace

double area_below_roc(std::span<const double> positives, std::span<const double> negatives) {
  return area(rank(positives, negatives).ties, std::ssize(positives), std::ssize(negatives));
}

std::optional<Separation> separation(std::span<const double> positives, std::span<const double> negatives,
                                     std::uint64_t seed) {
  if (positives.empty() || negatives.empty() || has_nan(positives) || has_nan(negatives)) return std::nullopt;
  const Ranking ranking = rank(positives, negatives);
  const auto all_positives = static_cast<std::int64_t>(positives.size());
  const auto all_negatives = static_cast<std::int64_t>(negatives.size());
  Separation result{.auc = area(ranking.ties, all_positives, all_negatives),
                    .auc_interval = bootstrap(ranking, seed)};
  Tie above;  // everything with at least the score of the tie
  for (const Tie& tie : ranking.ties) {
    above.positives += tie.positives;
    above.negatives += tie.negatives;
    const double tpr = static_cast<double>(above.positives) / static_cast<double>(all_positives);
    const double fpr = static_cast<double>(above.negatives) / static_cast<double>(all_negatives);
    if (above.negatives * 100 <= all_negatives) result.tpr_at_1_percent = tpr;
    if (above.negatives * 1000 <= all_negatives) result.tpr_at_01_percent = tpr;
    result.advantage = std::max(result.advantage, std::abs(tpr - fpr));
  }
  return result;
}

}  // namespace fedarena::results
