#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/model.hpp"

#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/rules/weights.hpp"

namespace fedarena {

/// What is known of an example's gradient before any of it is summed.
struct Length {
  double squared = 0;  ///< squared norm of the gradient
  double inputs = 0;   ///< norms of inputs, summed over affine maps and convolutions
  /// Sum over layers whose gradients are never held and their positions of |input| * |delta|: what the norms
  /// of their gradients would add up to if nothing cancelled, and the scale of rounding.
  double reach = 0;
};

/// What rules add to every example's Length. All numbers are read at once, because a GPU is waited for then.
class Lengths {
 public:
  /// `numbers`: the example's of each tensor.
  using Use = std::function<void(Length&, const double* numbers)>;

  /// Lets read() call `use` for each example, with its numbers of these tensors, float64 [n].
  void add(const std::vector<torch::Tensor>& tensors, Use use);
  /// Of that many examples, to which rules have added in turn.
  std::vector<Length> read(std::int64_t examples) const;

 private:
  struct Addition {
    std::size_t tensors;
    Use use;
  };
  std::vector<torch::Tensor> tensors_;
  std::vector<Addition> additions_;
};

/// What a rule is wanted for.
enum class Want {
  kSum,         ///< the sum of gradients over the micro-batch
  kPerExample,  ///< norms, then a sum with a factor an example
};

/// One layer in one pass over a micro-batch: forward, backward, then norms and sums of its parameters'
/// gradients, without autograd. Calls come in the order below, once each.
class Rule {
 public:
  Rule() = default;
  virtual ~Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  /// Outputs from contiguous inputs [n, ...]; keeps what the rest needs.
  virtual torch::Tensor forward(const torch::Tensor& inputs) = 0;
  /// Gradients in the inputs from those in the outputs, each example's of its own loss. `wanted`: whether
  /// anything before this layer has parameters; otherwise the result may be undefined.
  virtual torch::Tensor backward(const torch::Tensor& deltas, bool wanted) = 0;
  /// Adds this layer's part. For Want::kPerExample.
  virtual void add_lengths(Lengths& /*lengths*/) const {}
  /// sums[p] += sum over examples of factors[i] * gradient of parameter p; an example whose factor is zero
  /// adds nothing, not even NaN. Under Want::kSum all factors are one.
  virtual void add_sum(const kernels::Factors& /*factors*/, std::span<const torch::Tensor> /*sums*/) const {}
};

/// Whether there is a rule for that kind of layer, or passes go through it without one (engine/marks.hpp).
bool has_rule(const Layer& layer);

/// How many of the layers from layers[0] on, at least one, the next rule takes on such inputs, so that
/// memory is passed over once: a normalisation takes the ReLU and the average pooling after it, and, unless
/// what each layer is given is to be `traced`, a convolution with few channels the ReLU and the max pooling.
/// Either way the bits are those of one layer after the other.
std::size_t layers_of_next_rule(std::span<const Layer> layers, const torch::Tensor& inputs, bool traced);

/// Whether a convolution of such inputs goes by LaneConv2d (lane_rule.hpp).
bool works_in_lanes(const Conv2d& layer, const torch::Tensor& inputs);

/// What follows layers[0] in its rule.
kernels::Tail tail_of(std::span<const Layer> layers);

/// The normalisation layers[0] with its parameters and with what follows it in its rule.
kernels::Norm norm_of(std::span<const Layer> layers, const std::vector<torch::Tensor>& parameters);

/// The rule of those layers, which have one, for those inputs; `weights` are those of layers[0] and outlive
/// the rule.
std::unique_ptr<Rule> make_rule(std::span<const Layer> layers, const LayerWeights& weights,
                                const torch::Tensor& inputs, Want want);

/// Sums of products of a layer's inputs and deltas, for the rules of affine maps and convolutions: the
/// examples whose factor is not zero, with deltas that are scaled and rounded once.
struct Scaled {
  torch::Tensor inputs, deltas;
};
Scaled scale_examples(const kernels::Factors& factors, const torch::Tensor& inputs,
                      const torch::Tensor& deltas);

std::unique_ptr<Rule> make_embedding_rule(const Embedding& layer, std::vector<torch::Tensor> parameters,
                                          const torch::Tensor& inputs);
std::unique_ptr<Rule> make_linear_rule(std::vector<torch::Tensor> parameters);
/// On a GPU.
std::unique_ptr<Rule> make_product_rule(const Conv2d& layer, std::vector<torch::Tensor> parameters,
                                        Want want);
/// layers[0] is a Conv2d.
std::unique_ptr<Rule> make_conv2d_rule(std::span<const Layer> layers, const LayerWeights& weights,
                                       const torch::Tensor& inputs, Want want);

}  // namespace fedarena
