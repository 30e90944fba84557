#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/adam.hpp"
#include "fedarena/message.hpp"

namespace fedarena::generators {

/// What DataLens' teachers have in common.
struct FEDARENA_API TeacherShape {
  std::int64_t pixels, classes, width;

  std::int64_t inputs() const { return pixels + classes; }
  /// Weights of the hidden layer [width, inputs], of the output [width], its bias. The class of an input
  /// stands in for the bias of the hidden layer.
  std::int64_t numbers() const { return width * inputs() + width + 1; }
};

/// Discriminators side by side, one a row of every tensor, each [pixels and class] -> width -> 1 with leaky
/// ReLU, trained by Adam on the logistic loss: its mean over real inputs, for which outputs should be large,
/// plus that over others.
class FEDARENA_API Teachers {
 public:
  /// With fresh moments. `weights`: [teachers, numbers].
  Teachers(const TeacherShape& shape, torch::Tensor weights);
  /// As they were remembered.
  Teachers(const TeacherShape& shape, const Message& memory);
  /// The weights change in place when these teachers learn.
  Message memory() const;

  const torch::Tensor& weights() const { return weights_; }
  /// A step of each teacher on its own real inputs [teachers, n, inputs] and the generator's [m, inputs].
  void learn(const torch::Tensor& real, const torch::Tensor& generated, double rate);
  /// What raises each teacher's trust in generated inputs [m, inputs]: minus the derivative, in their pixels,
  /// of the mean of softplus(-output) over them; [teachers, m, pixels].
  torch::Tensor slopes(const torch::Tensor& generated) const;

 private:
  std::int64_t size() const { return weights_.size(0); }
  torch::Tensor hidden_of(const torch::Tensor& weights) const;
  torch::Tensor output_of(const torch::Tensor& weights) const;
  torch::Tensor bias_of(const torch::Tensor& weights) const;
  struct Pass {
    torch::Tensor sums, hidden, outputs;  // [teachers, n, width] before and after the ReLU, [teachers, n, 1]
  };
  Pass pass(const torch::Tensor& inputs) const;
  torch::Tensor back(const Pass& pass, const torch::Tensor& slopes) const;

  TeacherShape shape_;
  torch::Tensor weights_;  // [teachers, numbers]
  Adam::Moments moments_;
  std::int64_t steps_ = 0;
};

}  // namespace fedarena::generators
