// Where a private step of the ConvNet spends its time: each layer's forward and backward pass, norms and
// sums, on one thread and as many images as a worker takes at once, beside what the processor could do at
// best (the roofline; docs/performance.md).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "fedarena/base/text.hpp"
#include "fedarena/random.hpp"

#include "benchmarks/speed.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/gradients/kernels/products.hpp"
#include "harness/gradients/kernels/winograd.hpp"
#include "harness/gradients/rules/rule.hpp"
#include "harness/models/zoo.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kPasses = 40;
constexpr std::int64_t kImages = 8;
constexpr double kShown = 1e-4;  // seconds; shorter stages have no line

enum class Half { kForward, kBackward, kLengths, kSum };
std::string name_of(Half half) {
  return std::array{"forward", "backward", "norms", "sum"}[static_cast<std::size_t>(half)];
}

/// What a stage has to do: additions and multiplications of its products, and bytes that come from memory or
/// go there once. Transforms of tiles and normalisations have operations too, which are not counted.
struct Demand {
  double flops = 0, bytes = 0;
};

double bytes_of(std::int64_t numbers) { return static_cast<double>(numbers) * sizeof(float); }

std::string kind_of(const Layer& layer) {
  if (const auto* conv = std::get_if<Conv2d>(&layer))
    return fmt::format("conv {} to {}", conv->in, conv->out);
  if (std::holds_alternative<Linear>(layer)) return "affine";
  return std::holds_alternative<GroupNorm>(layer) ? "norm, ReLU, pool" : "other";
}

// Of one product of a layer, by tiles where that is how it is computed: 16 multiplications for four outputs
// of nine taps, and 36 for sixteen on the way back.
double flops_of(const Layer& layer, Half half, const torch::Tensor& inputs, std::int64_t outputs) {
  if (const auto* affine = std::get_if<Linear>(&layer))
    return 2.0 * static_cast<double>(outputs * affine->in);
  const auto* conv = std::get_if<Conv2d>(&layer);
  if (conv == nullptr) return 0;
  const auto direct = 2.0 * static_cast<double>(outputs * conv->in * conv->kernel * conv->kernel);
  if (!kernels::prefer_tiles(*conv, inputs)) return direct;
  return half == Half::kForward ? direct * 16 / 36 : direct * 36 / 144;
}

// Of a rule that begins with that layer. A convolution's backward pass makes each example's gradient in the
// weights, and that in the inputs unless it is the first layer.
Demand demand_of(const Layer& layer, Half half, const torch::Tensor& inputs, std::int64_t outputs,
                 std::int64_t weights, bool first) {
  const double product = flops_of(layer, half, inputs, outputs), maps = bytes_of(inputs.numel() + outputs);
  const double held = std::holds_alternative<Conv2d>(layer) ? bytes_of(weights) * kImages : 0;
  switch (half) {
    case Half::kForward:
      return {product, maps + bytes_of(weights)};
    case Half::kBackward:
      return {held > 0 && !first ? 2 * product : product, 2 * maps + bytes_of(weights) + held};
    case Half::kLengths:
      return {};
    case Half::kSum:
      return {0, held + 2 * bytes_of(weights)};
  }
  return {};
}

// The arithmetic that one thread reaches on matrices in its innermost caches, as tiles have them.
double product_gflops() {
  constexpr std::int64_t kSize = 128;
  const auto matrix = [] { return at::ones({1, kSize, kSize + kernels::kGap}).narrow(2, 0, kSize); };
  const torch::Tensor left = matrix(), right = matrix(), product = matrix();
  std::vector<double> seconds;
  for (int i = 0; i < 2000; ++i)
    seconds.push_back(seconds_of([&] { kernels::multiply(left, right, product); }));
  return 2e-9 * kSize * kSize * kSize / smallest(seconds);
}

// Bytes a second that one thread copies between arrays which no cache holds, read and written.
double copied_gib_s() {
  constexpr std::size_t kBytes = std::size_t{1} << 29;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes);
  std::vector<double> seconds;
  for (int i = 0; i < 8; ++i)
    seconds.push_back(seconds_of([&] { std::memcpy(to.data(), from.data(), kBytes); }));
  return 2.0 * kBytes / smallest(seconds) / (1 << 30);
}

struct Stage {
  std::string name;
  Demand demand;
  std::vector<double> seconds = {};
};

// Passes over random images, and what each stage of them took. Its loops are those of Pass (engine/pass.cpp),
// which has no clock between them.
class Passes {
 public:
  explicit Passes(Want want)
      : want_(want),
        model_(build_model("convnet", {}, {.shape = {3, 32, 32}, .outputs = 10}), torch::kFloat32),
        at_(model_.initial(stream_)),
        images_(normal(stream_, model_.input_shape(kImages)).to(torch::kFloat32)) {
    pass();
    for (Stage& stage : stages_) stage.seconds.clear();
  }
  const std::vector<Stage>& stages() const { return stages_; }
  void pass() {
    next_ = 0;
    const Weights weights(model_, at_);
    std::vector<Step> steps;
    const torch::Tensor outputs = forward(weights, steps);
    torch::Tensor deltas = at::softmax(outputs, 1);
    for (std::size_t i = steps.size(); i-- > 0;)
      take(steps[i], Half::kBackward, [&] { deltas = steps[i].rule->backward(deltas.contiguous(), i > 0); });
    Lengths lengths;
    for (const Step& step : steps)
      take(step, Half::kLengths, [&] {
        if (want_ == Want::kPerExample) step.rule->add_lengths(lengths);
      });
    const kernels::Factors factors(std::vector<double>(kImages, want_ == Want::kPerExample ? 0.5 : 1.0));
    for (const Step& step : steps) {
      std::vector<torch::Tensor> sums;
      for (const torch::Tensor& parameter : step.weights->parameters)
        sums.push_back(at::zeros_like(parameter));
      take(step, Half::kSum, [&] { step.rule->add_sum(factors, sums); });
    }
  }

 private:
  struct Step {
    std::unique_ptr<Rule> rule;
    const Layer* layer;
    const LayerWeights* weights;
    torch::Tensor inputs;
    std::int64_t outputs, parameters;
    std::string side;  // of the outputs
  };

  torch::Tensor forward(const Weights& weights, std::vector<Step>& steps) {
    const std::span<const Layer> all = model_.architecture().layers;
    torch::Tensor value = images_;
    for (std::span<const Layer> rest = all; !rest.empty();) {
      const std::span<const Layer> layers = rest.first(layers_of_next_rule(rest, value, /*traced=*/false));
      const LayerWeights& own = weights.of(all.size() - rest.size());
      rest = rest.subspan(layers.size());
      Step step{make_rule(layers, own, value, want_), layers.data(), &own, value, 0, 0, {}};
      for (const torch::Tensor& parameter : own.parameters) step.parameters += parameter.numel();
      take(step, Half::kForward, [&] {
        value = step.rule->forward(value).contiguous();
        step.outputs = value.numel();
        if (value.dim() == 4) step.side = fmt::format(", {0}x{0},", value.size(2));
      });
      steps.push_back(std::move(step));
    }
    return value;
  }

  template <typename Body>
  void take(const Step& step, Half half, const Body& body) {
    const double seconds = seconds_of(body);
    if (next_ == stages_.size()) {
      stages_.push_back({fmt::format("{}{} {}", kind_of(*step.layer), step.side, name_of(half)),
                         demand_of(*step.layer, half, step.inputs, step.outputs, step.parameters,
                                   step.weights->first == 0)});
    }
    stages_[next_++].seconds.push_back(seconds);
  }

  Want want_;
  Stream stream_{{.seed = 1}};
  Model model_;
  Params at_;
  torch::Tensor images_;
  std::vector<Stage> stages_;
  std::size_t next_ = 0;
};

// What a processor does at best.
struct Roofs {
  double gflops, gib_s;

  double seconds(const Demand& demand) const { return std::max(of_flops(demand), of_bytes(demand)); }
  double of_flops(const Demand& demand) const { return demand.flops / (1e9 * gflops); }
  double of_bytes(const Demand& demand) const { return demand.bytes / (gib_s * (1 << 30)); }
};

// A line a stage. `other`: of a processor that is not at hand.
void print_table(const Roofs& other) {
  keep_freed_memory();
  use_one_torch_thread();
  Passes clipped(Want::kPerExample), plain(Want::kSum);
  for (int i = 0; i < kPasses; ++i) {
    clipped.pass();
    plain.pass();
  }
  const Roofs here{product_gflops(), copied_gib_s()};
  fmt::print(
      "One thread, {} images a pass, medians of {} passes. Roofs: {:.0f} GFLOP/s (products of 128 x 128 in "
      "cache), {:.1f} GiB/s (copy); of the other: {:.0f} GFLOP/s, {:.0f} GiB/s.\n\n",
      kImages, kPasses, here.gflops, here.gib_s, other.gflops, other.gib_s);
  fmt::print(
      "| stage | ms | not private: ms | MFLOP | MiB | GFLOP/s | GiB/s | roof: ms | share | other's roof: us "
      "|\n"
      "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
  double all = 0, all_plain = 0, roofs = 0, others = 0;
  for (std::size_t i = 0; i < clipped.stages().size(); ++i) {
    const auto& [name, demand, took] = clipped.stages()[i];
    const double seconds = median(took), not_private = median(plain.stages()[i].seconds),
                 roof = here.seconds(demand);
    all += seconds;
    all_plain += not_private;
    roofs += roof;
    others += other.seconds(demand);
    if (demand.bytes == 0 || seconds < kShown) continue;
    fmt::print("| {} | {:.2f} | {:.2f} | {:.0f} | {:.1f} | {:.0f} | {:.1f} | {:.2f} {} | {:.2f} | {:.1f} |\n",
               name, 1e3 * seconds, 1e3 * not_private, 1e-6 * demand.flops, demand.bytes / (1 << 20),
               1e-9 * demand.flops / seconds, demand.bytes / seconds / (1 << 30), 1e3 * roof,
               here.of_flops(demand) > here.of_bytes(demand) ? "operations" : "bytes", roof / seconds,
               1e6 * other.seconds(demand));
  }
  fmt::print("| all | {:.2f} | {:.2f} | | | | | {:.2f} | {:.2f} | {:.1f} |\n", 1e3 * all, 1e3 * all_plain,
             1e3 * roofs, roofs / all, 1e6 * others);
}

}  // namespace
}  // namespace fedarena::benchmarks

// Usage: stages_benchmark [GFLOP/s GiB/s], the roofs of another processor; without, those that NVIDIA states
// for an H100 SXM: 67 TFLOP/s in single precision without tensor cores, 3.35 TB/s.
int main(int count, char** arguments) {
  fedarena::benchmarks::Roofs other{67'000, 3'120};
  if (count > 1) {
    const auto gflops = fedarena::parse_number<double>(arguments[1]);
    const auto gib_s = fedarena::parse_number<double>(count == 3 ? arguments[2] : "");
    if (!gflops || !gib_s) {
      fmt::print(stderr, "stages_benchmark: no arguments, or a processor's GFLOP/s and GiB/s\n");
      return 2;
    }
    other = {*gflops, *gib_s};
  }
  fedarena::benchmarks::print_table(other);
}
