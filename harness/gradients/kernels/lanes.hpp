#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/layers.hpp"

/// Convolutions with few channels, on sixteen examples side by side: a vector holds the same number of
/// sixteen examples, so that every multiplication of a vector is useful whatever the size of the maps, and
/// nothing is added up across a vector before a gradient's end. What LibTorch's convolutions do between
/// channels and positions leaves vectors half empty where there are 6 channels or 8x8 positions. Gradients of
/// single examples cost as much as their sum. Tensors are floating and on the CPU; maps are contiguous.
namespace fedarena::kernels {

/// Whether that is faster than LibTorch's convolution on so many examples.
bool prefer_lanes(const Conv2d& layer, std::int64_t examples);

/// What follows a convolution in the same pass over memory: the largest numbers of windows of pool x pool,
/// then ReLU, which gives what ReLU and MaxPool give in their order.
struct ConvTail {
  bool relu = false;
  std::int64_t pool = 1;  ///< 1: none
};

/// A convolution of inputs [n, in, h, w], its tail, and what its gradients need.
class LaneConvolution {
 public:
  LaneConvolution(const Conv2d& layer, const ConvTail& tail, torch::Tensor weight, torch::Tensor bias);

  /// Outputs of the tail, contiguous. The first call; `backward` the second.
  torch::Tensor forward(const torch::Tensor& inputs);
  /// Gradients in the inputs (undefined unless `wanted`) from those in the outputs. Keeps the gradients in
  /// the parameters: of each example if `per_example`, else sums of some.
  torch::Tensor backward(const torch::Tensor& deltas, bool per_example, bool wanted);

  /// Squared norm of each example's gradient in weight and bias, in double.
  std::vector<double> squared_norms() const;
  /// weight += sum over examples of factors[i] * gradient, and bias likewise. An example whose factor is zero
  /// adds nothing, not even NaN. Where sums are kept, all factors are one.
  void add_sum(std::span<const double> factors, const torch::Tensor& weight, const torch::Tensor& bias) const;

 private:
  template <typename T>
  void run_forward(const torch::Tensor& inputs, const torch::Tensor& outputs);
  template <typename T>
  void run_backward(const torch::Tensor& deltas, const torch::Tensor& input_deltas);

  Conv2d layer_;
  ConvTail tail_;
  torch::Tensor weight_, bias_;
  bool per_example_ = false;
  std::int64_t examples_ = 0;
  torch::Tensor inputs_;     // [blocks, in, h + 2 padding, w + 2 padding, 16]
  torch::Tensor convolved_;  // [blocks, out, h', w', 16], before the tail
  torch::Tensor gradients_;  // [blocks or 1, out, kernel * in * kernel + 1, 16], the bias last
};

}  // namespace fedarena::kernels
