#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/accounting/ledger.hpp"

#include "harness/oracle/random_source.hpp"

namespace fedarena {

/// One release of the Laplace mechanism in R^n under Euclidean distance: noise of density proportional to
/// exp(-||x|| / scale), whose radius is Gamma(n, scale) and whose direction is uniform (Chatzikokolakis et
/// al., PETS 2013). The event is written when the release begins and the noise is drawn from the same
/// numbers. A scale of 0 adds nothing and is an exact access.
class LaplaceRelease {
 public:
  /// Vectors that neighbours give lie at most `distance` apart: epsilon is distance / scale.
  static LaplaceRelease bounded(std::int64_t dimension, double scale, double distance, RoundAccesses& book);
  /// Nothing bounds the distance: a claim per unit of it alone.
  static LaplaceRelease metric(std::int64_t dimension, double scale, RoundAccesses& book);
  /// The scale `factor` * norm / n with which the noise is `factor` times as long as a secret of that norm
  /// on average (as d-private personalised federated learning has it). The scale is a function of the
  /// secret, and in high dimensions the radius tells it: no epsilon holds, neither per unit of distance nor
  /// with clipping. An exact access, and what the paper calls its leakage, n / factor.
  static LaplaceRelease relative(std::int64_t dimension, double factor, RoundAccesses& book);

  /// Adds the noise to a tensor of n numbers, once. `norm`: the tensor's, of which relative noise makes its
  /// scale.
  void noise(const torch::Tensor& sum, RandomSource& source, double norm) const;

 private:
  LaplaceRelease(std::int64_t dimension, double scale, bool relative = false)
      : dimension_(dimension), scale_(scale), relative_(relative) {}

  std::int64_t dimension_;
  double scale_;
  bool relative_;
};

}  // namespace fedarena
