#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/metric.hpp"

#include "harness/oracle/random_source.hpp"

namespace fedarena {

/// Above this the random numbers have too few bits to draw the rare answers that the claim rests on.
inline constexpr double kLargestLabelEpsilon = 64;

/// Randomised response of one label (Warner 1965; Ghazi et al., "Deep Learning with Label Differential
/// Privacy", NeurIPS 2021, Algorithms 1 and 2): answers are among `candidates`. A label in there stays with
/// probability e^epsilon / (e^epsilon + k - 1) and becomes each of the k - 1 others alike; one outside
/// becomes each candidate alike. Whatever the label, no answer is more than e^epsilon times as likely.
class ResponseLaw {
 public:
  /// RR: every class is a candidate.
  static ResponseLaw plain(std::int64_t classes, double epsilon);
  /// RRTop-k: the k classes of largest prior, of equals the lower ones. Error unless 1 <= k <= classes.
  static ResponseLaw top_k(std::span<const double> prior, std::int64_t k, double epsilon);
  /// RRWithPrior: RRTop-k at the k that maximises e^epsilon / (e^epsilon + k - 1) times the sum of the k
  /// largest priors, the probability that the answer is the label; of equals the smallest k. Error unless
  /// the prior is a distribution (to 1e-3) or when epsilon is not in (0, kLargestLabelEpsilon].
  static ResponseLaw with_prior(std::span<const double> prior, double epsilon);

  /// Ascending.
  const std::vector<std::int64_t>& candidates() const { return candidates_; }
  /// Of every answer, given that label; sums to 1.
  std::vector<double> probabilities(std::int64_t label) const;
  std::int64_t draw(std::int64_t label, RandomSource& source) const;

 private:
  ResponseLaw(std::int64_t classes, std::vector<std::int64_t> candidates, double epsilon);

  std::int64_t classes_;
  std::vector<std::int64_t> candidates_;
  double other_;  // probability that a candidate's answer is one certain other candidate
};

/// One release of labels by randomised response. The event is written when the release begins and the answers
/// are drawn with the same epsilon.
class ResponseRelease {
 public:
  /// Of examples' own labels, each of them released once by one of the laws above: what the worst example's
  /// costs, whatever the prior. Without one that is RR of all classes. With one it is RR of two: everything
  /// that keeps to e^epsilon is a function of its answer (Kairouz, Oh, Viswanath, ICML 2015), whose delta at
  /// x <= epsilon is (e^epsilon - e^x) / (e^epsilon + 1). Examples of other labels are other data (parallel
  /// composition), so that the event is written once.
  static ResponseRelease of_examples(std::int64_t classes, bool with_prior, double epsilon,
                                     RoundAccesses& book);
  /// Of labels that are nobody's: of synthetic images, which tell of raw examples whatever their labels say.
  /// What papers call label privacy of it, apart from every epsilon.
  static ResponseRelease of_synthetic(std::int64_t classes, double epsilon, RoundAccesses& book);

  /// An answer for each label (int64 [n]), int64 [n] on the labels' device; under its row of `prior` ([n,
  /// classes]) or, where that is undefined, under none. A row that is not all finite, of a model that
  /// diverged, says nothing of any label: all are alike. Error when a label is not one of the classes, or
  /// another row is not a distribution.
  torch::Tensor answers(const torch::Tensor& labels, const torch::Tensor& prior, RandomSource& source) const;

 private:
  ResponseRelease(std::int64_t classes, double epsilon);

  std::int64_t classes_;
  double epsilon_;
};

}  // namespace fedarena
