#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <torch/types.h>

#include "fedarena/layers.hpp"

#include "harness/gradients/rules/weights.hpp"

namespace fedarena {

/// A way to compute a convolution and its gradients, on examples of one shape. Tensors are contiguous: inputs
/// [n, in, h, w], deltas (gradients in the outputs) [n, out, h', w'].
class Convolution {
 public:
  /// Deltas, and what gradients in inputs and in the weight both want of them.
  struct Deltas {
    torch::Tensor plain;
    torch::Tensor tiles;  ///< transformed; undefined where nothing goes by tiles
  };
  /// Gradients in weight and bias; the weight's may lie in any order, which `add` knows.
  struct Gradient {
    torch::Tensor weight, bias;
  };

  Convolution(const Conv2d& layer, const LayerWeights& weights) : layer_(layer), weights_(weights) {}
  virtual ~Convolution() = default;
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  const Conv2d& layer() const { return layer_; }
  virtual torch::Tensor outputs(const torch::Tensor& inputs) const = 0;
  virtual Deltas prepare(const torch::Tensor& deltas) const { return {deltas, {}}; }
  virtual torch::Tensor input_deltas(const torch::Tensor& inputs, const Deltas& deltas) const = 0;
  /// Summed over the examples.
  virtual Gradient gradient(const torch::Tensor& inputs, const Deltas& deltas) const = 0;
  /// The weight's of each example and its squared norm, one take(gradient, squared) after the other.
  virtual void weight_gradients(const torch::Tensor& inputs, const Deltas& deltas,
                                const std::function<void(torch::Tensor, double)>& take) const = 0;
  /// weight += gradient
  virtual void add(const torch::Tensor& gradient, const torch::Tensor& weight) const = 0;
  /// What one example's gradient costs beyond its part of the sum, in multiplications a weight.
  virtual std::int64_t traffic_of_a_weight() const = 0;

 protected:
  const LayerWeights& weights() const { return weights_; }

 private:
  Conv2d layer_;
  const LayerWeights& weights_;
};

/// LibTorch's gradients in inputs, weight and bias, undefined where not wanted.
std::array<torch::Tensor, 3> convolution_gradients(const Conv2d& layer, const torch::Tensor& inputs,
                                                   const torch::Tensor& deltas, const torch::Tensor& weight,
                                                   std::array<bool, 3> wanted);

/// On the CPU, by tiles where they pay for such inputs (winograd.hpp), by patches where those are small
/// (patches.hpp), by LibTorch elsewhere; `weights` outlive it.
std::unique_ptr<const Convolution> make_convolution(const Conv2d& layer, const LayerWeights& weights,
                                                    const torch::Tensor& inputs);

}  // namespace fedarena
