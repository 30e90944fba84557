#pragma once

#include <cstdint>
#include <vector>

#include "fedarena/model.hpp"

namespace fedarena::benchmarks {

/// The zoo's ConvNet as one writes it with LibTorch alone: what the harness is compared with.
class PlainConvNet {
 public:
  /// Takes a copy of the weights, in the zoo's layout.
  explicit PlainConvNet(const Params& weights);

  torch::Tensor forward(const torch::Tensor& inputs) const;
  /// One step of SGD on the batch: one pass forward, one backward, and the update.
  void step(const Batch& batch, double rate);
  /// Gradient of the last step, in the layout of the weights; before the first step there is none.
  torch::Tensor flat_gradient() const;

 private:
  std::vector<torch::Tensor> weights_;
};

/// Gives LibTorch, oneDNN and BLAS all cores. Their own default may be fewer (LibTorch 1.13 of Debian takes
/// one on some virtual machines; OMP_NUM_THREADS may be set), and a comparison with a side that is held back
/// says nothing.
void use_all_cores();

/// One pass over the examples in batches of that size: SGD steps, or forward passes and losses only.
void plain_training(PlainConvNet& net, const Batch& examples, std::int64_t batch_size, double rate);
void plain_evaluation(const PlainConvNet& net, const Batch& examples, std::int64_t batch_size);

}  // namespace fedarena::benchmarks
