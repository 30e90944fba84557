#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/gradients/rules/rule.hpp"

namespace fedarena {

/// Whether that is faster than LibTorch's convolution on so many examples.
bool prefer_lanes(const Conv2d& layer, std::int64_t examples);

/// Convolutions with few channels, on sixteen examples side by side, and what follows them: a vector holds
/// the same number of sixteen examples, so that every multiplication of a vector is useful whatever the size
/// of the maps, and nothing is added up across a vector before a gradient's end. What LibTorch's convolutions
/// do between channels and positions leaves vectors half empty where there are 6 channels or 8x8 positions.
/// Gradients of single examples cost as much as their sum. On the CPU.
class LaneConv2d final : public Rule {
 public:
  LaneConv2d(const Conv2d& layer, const kernels::Tail& tail, const std::vector<torch::Tensor>& parameters,
             Want want);

  torch::Tensor forward(const torch::Tensor& inputs) override;
  torch::Tensor backward(const torch::Tensor& deltas, bool wanted) override;
  void add_lengths(Lengths& lengths) const override;
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override;

  /// Squared norm of each example's gradient in weight and bias, in double.
  std::vector<double> squared_norms() const;

 private:
  template <typename T>
  void run_forward(const torch::Tensor& inputs, const torch::Tensor& outputs);
  template <typename T>
  void run_backward(const torch::Tensor& deltas, const torch::Tensor& input_deltas);

  Conv2d layer_;
  kernels::Tail tail_;  // its windows are of one number where nothing is pooled
  torch::Tensor weight_, bias_;
  bool per_example_;
  std::int64_t examples_ = 0;
  torch::Tensor inputs_;     // [blocks, in, h + 2 padding, w + 2 padding, 16]
  torch::Tensor convolved_;  // [blocks, out, h', w', 16], before the tail
  torch::Tensor gradients_;  // [blocks or 1, out, kernel * in * kernel + 1, 16], the bias last
};

}  // namespace fedarena
