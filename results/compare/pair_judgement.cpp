#include "results/compare/pair_judgement.hpp"

#include "results/statistics/statistics.hpp"

namespace fedarena::results {
namespace {

PairJudgement tests_of(const std::vector<double>& differences) {
  PairJudgement pair;
  if (differences.size() < 2) return pair;
  pair.t = paired_t_test(differences, 1 - kErrorRate);
  pair.ranks = signed_rank_test(differences);
  pair.p = pair.t ? pair.t->p : pair.ranks->p;
  return pair;
}

}  // namespace

std::vector<PairJudgement> judge_pairs(std::span<const std::vector<double>> differences) {
  std::vector<PairJudgement> pairs;
  std::vector<double> p_values;
  for (const std::vector<double>& values : differences) {
    pairs.push_back(tests_of(values));
    p_values.push_back(values.size() < kLeastSeeds ? 1.0 : *pairs.back().p);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (differences[i].size() < kLeastSeeds) continue;
    pairs[i].holm = adjusted[i];
    pairs[i].finding = adjusted[i] > kErrorRate     ? Finding::kNoDifference
                       : mean(differences[i]) > 0.0 ? Finding::kAboveZero
                                                    : Finding::kBelowZero;
  }
  return pairs;
}

}  // namespace fedarena::results
