#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/stream.hpp"
#include "fedarena/layers.hpp"
#include "fedarena/params.hpp"

namespace fedarena {

/// Examples that a model can work on.
struct FEDARENA_API Batch {
  torch::Tensor inputs;  ///< [n, input shape...], in the model's floating type
  /// int64 [n] class labels, or floating [n, outputs]: class probabilities, each row of which sums to one, or
  /// targets of a regression.
  torch::Tensor targets;
  std::int64_t size() const { return inputs.size(0); }
  /// The examples at those positions (int64 [k], on any device).
  Batch select(const torch::Tensor& positions) const;
  /// The same in the floating type and on the device of `options`, such as a model's: messages and states may
  /// come back on the CPU. Labels keep their type.
  Batch to(const torch::TensorOptions& options) const;
};

/// The inputs of an embedding as int64 indices, in their shape. Error when one is not an index of its table.
FEDARENA_API torch::Tensor embedding_indices(const Embedding& layer, const torch::Tensor& inputs);

/// Whether a gradient can itself be differentiated.
enum class Graph { kDrop, kKeep };

/// A model as pure functions of (parameters, data): it holds no parameters, so one serves all clients and
/// threads.
class FEDARENA_API Model {
 public:
  /// `options`: floating type and device of parameters and data. Bug when the layers do not fit together.
  Model(Architecture architecture, torch::TensorOptions options);

  const Architecture& architecture() const { return architecture_; }
  const std::shared_ptr<const Layout>& layout() const { return layout_; }
  const torch::TensorOptions& options() const { return options_; }
  std::int64_t num_classes() const { return architecture_.outputs; }
  /// {batch, input shape...}
  std::vector<std::int64_t> input_shape(std::int64_t batch) const;
  /// Of one example, the shape of what each layer gets, and of the outputs.
  const std::vector<std::vector<std::int64_t>>& shapes() const { return shapes_; }
  /// Numbers that a forward pass of one example writes; decides how many examples fit into a cache.
  std::int64_t activations() const;

  /// Fresh weights: uniform in +-1/sqrt(fan in) for weights and biases of convolutions and affine maps (the
  /// default of PyTorch), ones and zeros for normalisation, standard normal for embeddings. Drawn in double,
  /// so that both floating types start alike.
  Params initial(Stream& stream) const;
  /// Error where the parameters are empty or of another layout than this model's; all that computes with them
  /// checks it.
  void check(const Params& at) const;
  /// Outputs (logits or predictions) [n, outputs].
  torch::Tensor forward(const Params& at, const torch::Tensor& inputs) const;
  /// Losses one by one [n].
  torch::Tensor losses(const torch::Tensor& outputs, const torch::Tensor& targets) const;
  /// Mean loss, differentiable with respect to `at` and the inputs.
  torch::Tensor loss(const Params& at, const Batch& batch) const;
  /// Gradient of the mean loss over one batch with respect to the parameters, in one autograd pass.
  Params gradient(const Params& at, const Batch& batch, Graph graph = Graph::kDrop) const;

 private:
  using Tensors = std::vector<torch::Tensor>;
  torch::Tensor forward(const Tensors& at, torch::Tensor inputs) const;

  Architecture architecture_;
  torch::TensorOptions options_;
  std::shared_ptr<const Layout> layout_;
  std::vector<std::vector<std::int64_t>> shapes_;
};

}  // namespace fedarena
