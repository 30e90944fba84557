#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/model.hpp"

namespace fedarena::benchmarks {

/// Outputs of a net of the zoo as one writes it with LibTorch alone, from weights in the zoo's layout.
using PlainForward = torch::Tensor (*)(const std::vector<torch::Tensor>& weights, torch::Tensor inputs);
torch::Tensor plain_convnet(const std::vector<torch::Tensor>& weights, torch::Tensor inputs);
torch::Tensor plain_niid_cnn(const std::vector<torch::Tensor>& weights, torch::Tensor inputs);
/// The one of that name: "convnet" or "niid-cnn".
PlainForward plain_forward(const std::string& model);

/// A net that LibTorch alone trains: what the harness is compared with.
class PlainNet {
 public:
  /// Takes a copy of the weights.
  PlainNet(PlainForward forward, const Params& weights);

  torch::Tensor forward(const torch::Tensor& inputs) const { return forward_(weights_, inputs); }
  /// One step of SGD on the batch: one pass forward, one backward, and the update.
  void step(const Batch& batch, double rate);
  /// Gradient of the last step, in the layout of the weights; before the first step there is none.
  torch::Tensor flat_gradient() const;

 private:
  PlainForward forward_;
  std::vector<torch::Tensor> weights_;
};

/// Gives LibTorch, oneDNN and BLAS all cores. Their own default may be fewer (LibTorch 1.13 of Debian takes
/// one on some virtual machines; OMP_NUM_THREADS may be set), and a comparison with a side that is held back
/// says nothing.
void use_all_cores();

/// One pass over the examples in batches of that size: SGD steps, or forward passes and losses only.
void plain_training(PlainNet& net, const Batch& examples, std::int64_t batch_size, double rate);
void plain_evaluation(const PlainNet& net, const Batch& examples, std::int64_t batch_size);

}  // namespace fedarena::benchmarks
