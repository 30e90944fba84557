#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/message.hpp"
#include "fedarena/model.hpp"

namespace fedarena::generators {

/// What DataLens' teachers have in common.
struct FEDARENA_API TeacherShape {
  std::int64_t pixels, classes;
  double rate;   ///< of gradient descent
  double decay;  ///< of the weights, as a share of the rate
};

/// Discriminators side by side, one a row of every tensor: logistic regressions, one for each class, that
/// tell real inputs from others by gradient descent on the mean loss over the real ones plus that over the
/// others. Weights begin at zero, and shrink by rate * decay in each step, so that they forget what the
/// generator drew long ago. They stay on the CPU, wherever the inputs are: a step reads each input twice and
/// computes next to nothing.
class FEDARENA_API Teachers {
 public:
  /// Fresh ones, in the type of `options`.
  Teachers(const TeacherShape& shape, std::int64_t teachers, const torch::TensorOptions& options);
  /// As they were remembered.
  Teachers(const TeacherShape& shape, const Message& memory);
  /// The weights change in place when these teachers learn.
  Message memory() const;

  /// [teachers, classes, pixels], [teachers, classes].
  const torch::Tensor& weights() const { return weights_; }
  const torch::Tensor& biases() const { return biases_; }
  /// A step of each teacher on inputs of its own, real and generated ones: pixels [teachers, n, pixels], and
  /// classes, int64 [teachers, n].
  void learn(const Batch& real, const Batch& generated);
  /// What raises each teacher's trust in generated inputs, pixels [m, pixels] of classes int64 [m]: minus the
  /// derivative, in their pixels, of the mean of softplus(-output) over them; [teachers, m, pixels]. Zero for
  /// a class of which a teacher has seen nothing.
  torch::Tensor slopes(const Batch& generated) const;

 private:
  TeacherShape shape_;
  torch::Tensor weights_, biases_;
};

/// Slopes [.., n, pixels] by the room that each pixel of the images [n, pixels], from 0 to 1, has in their
/// direction: nobody votes to make black darker.
FEDARENA_API torch::Tensor within_range(const torch::Tensor& slopes, const torch::Tensor& images);

/// What a teacher says of each image (Wang et al., "DataLens", CCS 2021, Algorithms 2 and 3): signs of its k
/// largest slopes by magnitude, zeros elsewhere. The sign of slope g is +1 with probability 1/2 + g / 2b,
/// where b is the image's largest |g|, at most `scale`; slopes beyond b have their own sign.
/// `slopes`: [n, pixels]; `draws`: uniforms in [0, 1), [n, k], used from the largest slope on.
FEDARENA_API torch::Tensor top_signs(const torch::Tensor& slopes, double scale, const torch::Tensor& draws);

/// +1 where the votes of so many voters sum to more than that share of them, -1 where to less than minus it,
/// else 0.
FEDARENA_API torch::Tensor crossings(const torch::Tensor& votes, std::int64_t voters, double share);

}  // namespace fedarena::generators
