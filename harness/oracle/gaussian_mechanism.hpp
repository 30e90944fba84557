#pragma once

#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/params.hpp"

#include "harness/oracle/random_source.hpp"

namespace fedarena {

/// Shortens a vector of that norm, which is longer than the clip norm, to it: with a margin for rounding, and
/// in double precision where the factor would lose digits in the vector's own.
void clip(const torch::Tensor& vector, double norm, double clip_norm);
/// Adds what `clip` makes of the vector, which stays as it is.
void add_clipped(const torch::Tensor& sum, const torch::Tensor& vector, double norm, double clip_norm);

/// One release of the Gaussian mechanism: sums over one sample of units, each sum clipped by its own norm.
/// The event is written when the release begins and the noise is drawn from the same numbers, so that the two
/// cannot disagree.
class GaussianRelease {
 public:
  /// `clip_norms`: of each query of the event, in order; the noise on query i has standard deviation
  /// event.noise_multipliers[i] * clip_norms[i].
  GaussianRelease(SampledGaussian event, std::vector<double> clip_norms, RoundAccesses& book);

  /// The same of one sum over all units, nothing sampled.
  GaussianRelease(Gaussian event, double clip_norm, RoundAccesses& book);

  /// Adds independent noise to every number of a sum that belongs to query `query`. Several tensors of one
  /// query are parts of one long vector: the clip norm holds for all of them together.
  void noise(const torch::Tensor& sum, RandomSource& source, std::size_t query = 0) const;
  void noise(double& sum, RandomSource& source, std::size_t query) const;

 private:
  double deviation(std::size_t query) const;

  SampledGaussian event_;
  std::vector<double> clip_norms_;
};

}  // namespace fedarena
