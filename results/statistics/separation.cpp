#include "results/statistics/separation.hpp"

#include <algorithm>
#include <cmath>
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

// Examples whose score is at least that of each tie: from none to all of them.
std::vector<Tie> corners_of(std::span<const Tie> ties) {
  std::vector<Tie> corners = {{}};
  for (const Tie& tie : ties) {
    const Tie& last = corners.back();
    corners.push_back({last.positives + tie.positives, last.negatives + tie.negatives});
  }
  return corners;
}

RocRates rates_of(const std::vector<Tie>& corners) {
  const auto [positives, negatives] = corners.back();
  RocRates rates;
  std::size_t next = 0;  // the first corner to the right of the false positive rate
  for (std::int64_t step = 0; step <= kRocSteps; ++step) {
    // Whether a corner lies at a rate of the grid is a question about whole numbers.
    while (next < corners.size() && corners[next].negatives * kRocSteps <= step * negatives) ++next;
    const Tie& left = corners[next - 1];
    double reached = static_cast<double>(left.positives);
    if (next < corners.size()) {
      const Tie& right = corners[next];
      const std::int64_t beyond = step * negatives - left.negatives * kRocSteps;
      const std::int64_t width = (right.negatives - left.negatives) * kRocSteps;
      reached += static_cast<double>(right.positives - left.positives) *
                 (static_cast<double>(beyond) / static_cast<double>(width));
    }
    rates[static_cast<std::size_t>(step)] = reached / static_cast<double>(positives);
  }
  return rates;
}

bool have_order(std::span<const double> scores) {
  return !scores.empty() && std::ranges::none_of(scores, [](double score) { return std::isnan(score); });
}

}  // namespace

std::optional<RocCurve> roc_curve(std::span<const double> positives, std::span<const double> negatives) {
  if (!have_order(positives) || !have_order(negatives)) return std::nullopt;
  const std::vector<Tie> ties = rank(positives, negatives).ties;
  return RocCurve{.area = area(ties, std::ssize(positives), std::ssize(negatives)),
                  .true_positive_rates = rates_of(corners_of(ties))};
}

double area_below_roc(std::span<const double> positives, std::span<const double> negatives) {
  return area(rank(positives, negatives).ties, std::ssize(positives), std::ssize(negatives));
}

std::optional<Separation> separation(std::span<const double> positives, std::span<const double> negatives,
                                     std::uint64_t seed) {
  if (!have_order(positives) || !have_order(negatives)) return std::nullopt;
  const Ranking ranking = rank(positives, negatives);
  const std::int64_t all_positives = std::ssize(positives), all_negatives = std::ssize(negatives);
  Separation result{.auc = area(ranking.ties, all_positives, all_negatives),
                    .auc_interval = bootstrap(ranking, seed)};
  for (const Tie& above : corners_of(ranking.ties)) {
    const double tpr = static_cast<double>(above.positives) / static_cast<double>(all_positives);
    const double fpr = static_cast<double>(above.negatives) / static_cast<double>(all_negatives);
    if (above.negatives * 100 <= all_negatives) result.tpr_at_1_percent = tpr;
    if (above.negatives * 1000 <= all_negatives) result.tpr_at_01_percent = tpr;
    result.advantage = std::max(result.advantage, std::abs(tpr - fpr));
  }
  return result;
}

}  // namespace fedarena::results
