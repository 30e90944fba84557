#pragma once

#include <optional>
#include <vector>

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace fedlap {

/// Entries of a client's message beside its set: where clients measure a radius, and where they calibrate.
inline constexpr fedarena::Key<double> kRadius{"radius"};
inline constexpr fedarena::Key<torch::Tensor> kNorms{"norms"};  ///< as of `tensor_norms`

/// A client's synthetic set, its share N_k / N, and the `tensor_norms` that its gradients are calibrated to;
/// undefined: they stay as they are.
struct WeightedSet {
  fedarena::Batch set;
  double weight = 1;
  torch::Tensor norms = {};
};

/// The Euclidean norm of each tensor of the layout; float64 [tensors], on the CPU.
torch::Tensor tensor_norms(const fedarena::Params& gradient);

/// Equation 20: scales each tensor of the gradient to its entry of `norms`; one that is zero stays so.
void calibrate(fedarena::Params& gradient, const torch::Tensor& norms);

/// Descent on synthetic sets (Algorithm 2), epoch by epoch; at least one set, none of them empty.
class GlobalDescent {
 public:
  GlobalDescent(const Config& config, const fedarena::Compute& compute, std::vector<WeightedSet> sets,
                fedarena::Stream shuffles);

  /// One pass over the sets: SGD steps of that rate from `params`, each only while `params` is nearer to
  /// `start` than the radius. False when it is not any more.
  bool epoch(fedarena::Params& params, const fedarena::Params& start, double radius, double rate);

 private:
  void weighted_step(fedarena::Params& params, double rate) const;

  const fedarena::Compute& compute_;
  std::vector<WeightedSet> sets_;
  std::optional<fedarena::SetDescent> on_union_;  // none: steps along the weighted mean
};

/// The server's part of a round: radius r_g from the clients' messages, then the descent.
void optimise_globally(const Config& config, fedarena::Server& server, const fedarena::Uplink& uplink);

}  // namespace fedlap
