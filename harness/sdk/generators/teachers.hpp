#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/adam.hpp"
#include "fedarena/message.hpp"

namespace fedarena::generators {

/// What DataLens' teachers have in common.
struct FEDARENA_API TeacherShape {
  std::int64_t pixels, classes, width;

  constexpr std::int64_t inputs() const { return pixels + classes; }
  /// Weights of the hidden layer [width, inputs], of the output [width], its bias. The class of an input
  /// stands in for the bias of the hidden layer.
  constexpr std::int64_t numbers() const { return width * inputs() + width + 1; }
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

/// What a teacher says of each image (Wang et al., "DataLens", CCS 2021, Algorithms 2 and 3): signs of its k
/// largest slopes by magnitude, zeros elsewhere. The sign of slope g is +1 with probability 1/2 + g / 2b,
/// where b is the image's largest |g|, at most `scale`; slopes beyond b have their own sign.
/// `slopes`: [n, pixels]; `draws`: uniforms in [0, 1), [n, k], used from the largest slope on.
FEDARENA_API torch::Tensor top_signs(const torch::Tensor& slopes, double scale, const torch::Tensor& draws);

/// +1 where the votes of so many voters sum to more than that share of them, -1 where to less than minus it,
/// else 0.
FEDARENA_API torch::Tensor crossings(const torch::Tensor& votes, std::int64_t voters, double share);

}  // namespace fedarena::generators
