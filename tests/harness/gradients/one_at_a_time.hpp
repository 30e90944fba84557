#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/zoo.hpp"
#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/infinity.hpp"
#include "tests/paths.hpp"

namespace fedarena {

/// Every example's gradient by autograd, each in double and in a batch of its own.
inline std::vector<torch::Tensor> separate_gradients(const Model& model, const Params& at,
                                                     const Batch& batch) {
  std::vector<torch::Tensor> gradients;
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const Params gradient = model.gradient(at, slices_of(batch)(i, i + 1));
    gradients.push_back(gradient.flat().to(torch::kFloat64));
  }
  return gradients;
}

/// What GradientEngine::clipped_gradient_sum promises, as it is written in papers.
inline torch::Tensor clipped_by_hand(const std::vector<torch::Tensor>& gradients, double clip_norm) {
  torch::Tensor sum = torch::zeros_like(gradients.front());
  for (const torch::Tensor& gradient : gradients) {
    const auto length = gradient.norm().item<double>();
    if (std::isfinite(length)) sum += length > clip_norm ? gradient * (clip_norm / length) : gradient;
  }
  return sum;
}

inline double median_norm(const std::vector<torch::Tensor>& gradients) {
  std::vector<double> norms;
  for (const torch::Tensor& gradient : gradients) norms.push_back(gradient.norm().item<double>());
  std::nth_element(norms.begin(), norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2), norms.end());
  return norms[norms.size() / 2];
}

/// Relative distance of the engine's clipped sum from the one by hand, both types and three bounds: none, one
/// that clips half of the examples, one that clips all.
inline void expect_exact_clipping(const Architecture& architecture, torch::ScalarType type,
                                  const WorkPool& pool, std::int64_t count, std::uint64_t seed) {
  const Model model(architecture, type);
  Stream stream({.seed = seed});
  const Params at = model.initial(stream) + 0.05 * random_params(model);  // norms' shifts are no longer zero
  const Batch batch = random_batch(model, count, seed);
  const std::vector<torch::Tensor> gradients = separate_gradients(model, at, batch);
  const double middle = median_norm(gradients);
  const GradientEngine engine(model, pool);
  for (const double clip_norm : {kInfinity, middle, 0.01 * middle}) {
    const ClippedSum actual = engine.clipped_gradient_sum(at, clip_norm, count, slices_of(batch));
    const torch::Tensor expected = clipped_by_hand(gradients, clip_norm);
    const double error = (actual.sum.flat().to(torch::kFloat64) - expected).norm().item<double>();
    // Double precision shows that the formulas are right; of single precision, 500 roundings are borne.
    EXPECT_LE(error, (type == torch::kFloat32 ? 3e-5 : 1e-10) * expected.norm().item<double>())
        << "clip_norm " << clip_norm << ", seed " << seed << ", " << type;
    const auto longer_than = [&](double length) {
      return std::count_if(gradients.begin(), gradients.end(), [&](const torch::Tensor& gradient) {
        return gradient.norm().item<double>() > length;
      });
    };
    EXPECT_GE(actual.clipped, longer_than(clip_norm * (1 + 1e-4)));
    EXPECT_LE(actual.clipped, longer_than(clip_norm * (1 - 1e-4)));
  }
}

/// A model at random parameters, and what an engine computes of whole batches there.
struct Trial {
  Trial(Architecture architecture, torch::ScalarType type, const WorkPool& pool)
      : model(std::move(architecture), type), engine(model, pool), at(random_params(model)) {}

  Batch draw(std::int64_t count, std::uint64_t seed = 1) const { return random_batch(model, count, seed); }
  Params mean(const Batch& batch) const { return engine.mean_gradient(at, batch.size(), slices_of(batch)); }
  ClippedSum clipped(double clip_norm, const Batch& batch) const {
    return engine.clipped_gradient_sum(at, clip_norm, batch.size(), slices_of(batch));
  }
  torch::Tensor norms(const Batch& batch) const {
    return engine.gradient_norms(at, batch.size(), slices_of(batch));
  }
  Score score(const Batch& batch) const { return engine.evaluate(at, batch.size(), slices_of(batch)); }
  /// With `direction` for the slope.
  torch::Tensor moved(const Batch& batch, const Params& direction) const {
    return engine.input_gradient(at, batch, [&](const Params&) { return direction; });
  }

  const Model model;
  const GradientEngine engine;
  const Params at;
};

/// Whether a layer brings a forward pass alone, so that gradients are autograd's.
inline bool has_custom_layers(const Architecture& architecture) {
  return std::ranges::any_of(architecture.layers,
                             [](const Layer& layer) { return std::holds_alternative<Custom>(layer); });
}

/// A layer without a rule, from four features to three.
inline Custom gate() {
  return {{{4}, {4, 3}},
          [](const std::vector<torch::Tensor>& parameters, const torch::Tensor& inputs) {
            return torch::tanh(inputs * parameters[0]).matmul(parameters[1]);
          },
          [](const Custom::Shape&) { return Custom::Shape{3}; }};
}

/// Pools of several numbers of workers.
class WithPools : public ::testing::Test {
 protected:
  WithPools() { use_one_torch_thread(); }
  WorkPool one{1, use_one_torch_thread}, two{2, use_one_torch_thread}, three{3, use_one_torch_thread},
      seven{7, use_one_torch_thread};
};

/// Whose kernels and rules: the CPU's, or a GPU's, walked by the host on the CPU's tensors.
enum class By { kCpu, kGpu };

/// A test of the engine by either.
class ByEither : public WithPools, public ::testing::WithParamInterface<By> {
 protected:
  ByEither() {
    if (GetParam() == By::kGpu) walked_.emplace(cuda::Order::kForward);
  }

 private:
  std::optional<cuda::Walked> walked_;
};
inline std::string name_of(const ::testing::TestParamInfo<By>& by) {
  return by.param == By::kCpu ? "Cpu" : "Gpu";
}
#define FEDARENA_BY_EITHER(Suite) \
  INSTANTIATE_TEST_SUITE_P(By, Suite, ::testing::Values(By::kCpu, By::kGpu), name_of)

/// Shapes of images that every model of the zoo takes; the larger ones are many times as dear.
inline std::vector<std::vector<std::int64_t>> zoo_images() {
  std::vector<std::vector<std::int64_t>> shapes{{1, 28, 28}};
  if (test::long_tests()) shapes.push_back({3, 32, 32});
  return shapes;
}

/// The model as it stands, but for one that is too large for tests.
inline Architecture zoo_architecture(const ModelInfo& info, const std::vector<std::int64_t>& shape) {
  Settings settings;
  if (info.name == "resnet") settings = {{"stages", 3}, {"blocks", 1}, {"width", 16}, {"groups", 4}};
  return build_model(info.name, settings, {.shape = shape, .outputs = 10});
}

/// Numbers of examples that fill micro-batches, and that do not.
inline std::vector<std::int64_t> sizes_around(std::int64_t micro_batch) {
  return {1,
          2,
          micro_batch - 1,
          micro_batch,
          micro_batch + 1,
          2 * micro_batch,
          2 * micro_batch + 1,
          3 * micro_batch - 1};
}

/// Layers and shapes drawn at random: anything that fits together, but for norms of few numbers. What those
/// give is nearly constant, and its gradient is little else than autograd's rounding. Channels are few or
/// many, so that convolutions go and norms are taken either way, and maps are of sizes that tiles overhang.
class RandomArchitecture {
 public:
  explicit RandomArchitecture(std::uint64_t seed) : stream_({.seed = seed}) {}

  Architecture images_or_features() { return design(between(0, 3) == 0 ? kFeatures : kImages); }
  Architecture images_features_or_words() { return design(static_cast<Kind>(between(0, 2))); }

 private:
  enum Kind { kImages, kFeatures, kWords };

  Architecture design(Kind kind) {
    result_.outputs = between(2, 5);
    result_.loss = chance() ? Loss::kCrossEntropy : Loss::kSquaredError;
    if (kind == kImages) images();
    if (kind == kFeatures) features();
    if (kind == kWords) words();
    if (chance()) {
      const std::int64_t hidden = 4 * between(2, 4);
      add(Linear{size_, hidden});
      if (chance()) add(GroupNorm{2, hidden});
      add(Relu{});
      size_ = hidden;
    }
    add(Linear{size_, result_.outputs});
    return result_;
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance() { return between(0, 1) == 1; }
  void add(Layer layer) { result_.layers.push_back(std::move(layer)); }

  void images() {
    std::int64_t channels = between(1, 5), height = between(4, 12), width = between(4, 12);
    const auto pool = [&] {
      const std::int64_t window = between(1, 3);
      if (window > height || window > width) return;
      chance() ? add(AveragePool{window}) : add(MaxPool{window});
      height /= window;
      width /= window;
    };
    result_.input_shape = {channels, height, width};
    if (between(0, 3) == 0) add(Relu{});
    if (between(0, 3) == 0) pool();
    for (std::int64_t block = between(1, 3); block > 0; --block) {
      const std::int64_t kernel = chance() ? 3 : between(1, 4), padding = between(0, 2),
                         groups = between(1, 3);
      if (kernel > height + 2 * padding || kernel > width + 2 * padding) continue;
      const Conv2d conv{channels, groups * between(1, 16), kernel, padding, between(0, 3) == 0 ? 2 : 1};
      const std::int64_t rows = conv.side(height), columns = conv.side(width);
      const auto rest = [&] {
        if (chance() && rows * columns >= 6) add(GroupNorm{chance() ? groups : conv.out, conv.out});
        if (chance()) add(Relu{});
      };
      // A connection around the block: it adds the block's inputs, where they are of that shape.
      const bool connected = between(0, 2) == 0;
      if (connected) add(Fork{});
      add(conv);
      rest();
      if (connected) {
        if (conv.out != channels || rows != height || columns != width) {
          add(Shortcut{});
          add(conv);
          rest();
        }
        add(Join{});
      }
      channels = conv.out;
      height = rows;
      width = columns;
      if (chance()) pool();
    }
    add(Flatten{});
    size_ = channels * height * width;
  }
  void features() {
    size_ = between(1, 12);
    result_.input_shape = {size_};
    if (size_ >= 4 && chance()) add(GroupNorm{1, size_});
  }
  void words() {
    const std::int64_t length = between(1, 9), dimension = between(1, 6);
    result_.input_shape = {length};
    add(Embedding{between(1, 7), dimension});
    if (chance() && length * dimension >= 4) add(GroupNorm{1, length});
    if (chance()) add(Relu{});
    add(Flatten{});
    size_ = length * dimension;
  }

  Stream stream_;
  Architecture result_;
  std::int64_t size_ = 0;
};

}  // namespace fedarena
