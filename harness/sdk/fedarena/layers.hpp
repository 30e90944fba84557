#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include <torch/types.h>

namespace fedarena {

/// Two-dimensional convolution with bias; weight [out, in, kernel, kernel].
struct Conv2d {
  std::int64_t in, out, kernel, padding;
  std::int64_t stride = 1;

  /// Height or width of the outputs, of inputs of that height or width.
  std::int64_t side(std::int64_t of_inputs) const { return (of_inputs + 2 * padding - kernel) / stride + 1; }
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
/// The largest numbers of non-overlapping windows of size x size; a gradient goes to the first of equals.
struct MaxPool {
  std::int64_t size;
};
/// Everything but the batch dimension becomes one.
struct Flatten {};
/// Affine map with bias; weight [out, in].
struct Linear {
  std::int64_t in, out;
};

/// Vectors of a table that is learnt; weight [count, dimension]. The first layer of a model: its inputs, of
/// any shape, are whole numbers in [0, count) that the model's floating type holds (hence count <= 2^24), and
/// anything else in them is an Error. The vectors become the last dimension.
struct Embedding {
  std::int64_t count, dimension;
};
/// Batch normalisation (Ioffe and Szegedy 2015) with the statistics of the batch at hand, in evaluation too:
/// no running statistics are kept. A gradient then has no examples that it is a sum over, so that clipping
/// them one by one bounds nothing, and a policy that does so refuses the layer; GroupNorm takes its place.
struct BatchNorm {
  std::int64_t channels;
  double epsilon = 1e-5;
};
/// A residual connection (He et al. 2016) is marked in the list of layers: Join adds up what the layers after
/// Fork make of its inputs, and these inputs as they are or, where Shortcut stands between, as the layers
/// after it make them. Connections may lie within each other.
struct Fork {};
struct Shortcut {};
struct Join {};

/// Any other differentiable function of the inputs. Per-example gradients of a model that has one are taken
/// one example at a time.
struct Custom {
  using Shape = std::vector<std::int64_t>;

  /// Tensors of two or more dimensions start uniform in +-1/sqrt(fan in), the fan in being the product of all
  /// dimensions but the first; others start at zero.
  std::vector<Shape> parameters;
  /// (parameters, inputs [n, shape...]) -> outputs [n, output_shape(shape)...]; called from several threads
  /// at once.
  std::function<torch::Tensor(const std::vector<torch::Tensor>&, const torch::Tensor&)> forward;
  /// Shape of one example's outputs from that of its inputs.
  std::function<Shape(const Shape&)> output_shape;
  /// Multiplications with parameters in a forward pass of one example, for what tables say of operations.
  std::int64_t products = 0;
};

/// One step of a model. Models are data: forward passes, parameter counts and gradient rules are all read off
/// the same list of layers.
using Layer = std::variant<Conv2d, GroupNorm, Relu, AveragePool, MaxPool, Flatten, Linear, Embedding,
                           BatchNorm, Fork, Shortcut, Join, Custom>;

/// What training minimises; both are means over the batch.
enum class Loss {
  kCrossEntropy,  ///< of softmax(outputs) q and class labels or probabilities p: -sum p log q
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
