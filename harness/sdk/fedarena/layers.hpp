#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace fedarena {

/// Two-dimensional convolution with bias; weight [out, in, kernel, kernel].
struct Conv2d {
  std::int64_t in, out, kernel, padding;
};
/// Group normalisation (Wu and He 2018) with a scale and a shift per channel.
struct GroupNorm {
  std::int64_t groups, channels;
  double epsilon = 1e-5;
};
struct Relu {};
/// Means over non-overlapping windows of size x size.
struct AveragePool {
  std::int64_t size;
};
/// Everything but the batch dimension becomes one.
struct Flatten {};
/// Affine map with bias; weight [out, in].
struct Linear {
  std::int64_t in, out;
};

/// One step of a model. Models are data: forward passes, parameter counts and gradient rules are all read off
/// the same list of layers.
using Layer = std::variant<Conv2d, GroupNorm, Relu, AveragePool, Flatten, Linear>;

/// What training minimises; both are means over the batch.
enum class Loss {
  kCrossEntropy,  ///< of softmax(outputs) and class labels
  kSquaredError,  ///< half the squared distance of outputs and targets; class labels become one-hot vectors
};

/// A model before it has parameters.
struct Architecture {
  std::vector<std::int64_t> input_shape;  ///< of one example: {channels, height, width} or {features}
  std::int64_t outputs;                   ///< classes, or targets of a regression
  std::vector<Layer> layers;
  Loss loss = Loss::kCrossEntropy;
};

}  // namespace fedarena
