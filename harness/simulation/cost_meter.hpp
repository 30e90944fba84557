#pragma once

#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/operations.hpp"
#include "harness/simulation/public_compute.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// What a round takes to compute: all that passes through the engine, or through those of other networks,
/// between its construction and `cost()`.
/// Floating-point operations follow from the model and the numbers of examples, whatever the passes do to
/// save some of them. Clipping, noise, optimisers and aggregation do not count.
class CostMeter {
 public:
  CostMeter(const Model& model, const GradientEngine& engine, const PublicCompute& compute);

  results::Cost cost() const;

 private:
  Operations operations_;
  const GradientEngine& engine_;
  const PublicCompute& compute_;
  Work work_before_;
  PublicCompute::Elsewhere elsewhere_before_;
};

}  // namespace fedarena
