// Where a private step of the ConvNet spends its time: each layer's forward and backward pass, norms and
// sums, on one thread and as many images as a worker takes at once, beside what the processor could do at
// best (the roofline; docs/performance.md).
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "fedarena/random.hpp"

#include "benchmarks/speed.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/gradients/rules/rule.hpp"
#include "harness/models/zoo.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kPasses = 40;
constexpr std::int64_t kImages = 8;

enum class Half { kForward, kBackward, kLengths, kSum };
constexpr std::array kHalves{Half::kForward, Half::kBackward, Half::kLengths, Half::kSum};
std::string name_of(Half half) {
  return std::array{"forward", "backward", "norms", "sum"}[static_cast<std::size_t>(half)];
}

/// What a stage has to do whatever the algorithm: additions and multiplications of direct products, and bytes
/// that come from or go to memory once.
struct Demand {
  double flops = 0, bytes = 0;
};

double bytes_of(std::int64_t numbers) { return static_cast<double>(numbers) * sizeof(float); }

// Of a layer in the rule that begins with it.
std::string kind_of(const Layer& layer) {
  if (const auto* conv = std::get_if<Conv2d>(&layer))
    return fmt::format("conv {} to {}", conv->in, conv->out);
  if (std::holds_alternative<Linear>(layer)) return "affine";
  return std::holds_alternative<GroupNorm>(layer) ? "norm, ReLU, pool" : "other";
}

// Of the rule of layers[0] and what it takes on.
Demand demand_of(const Layer& layer, Half half, std::int64_t inputs, std::int64_t outputs,
                 std::int64_t weights) {
  double product = 0;
  if (const auto* conv = std::get_if<Conv2d>(&layer))
    product =
        2.0 * static_cast<double>(outputs) * static_cast<double>(conv->in * conv->kernel * conv->kernel);
  if (const auto* affine = std::get_if<Linear>(&layer))
    product = 2.0 * static_cast<double>(outputs) * static_cast<double>(affine->in);
  const double maps = bytes_of(inputs + outputs), each = bytes_of(weights) * kImages;
  switch (half) {
    case Half::kForward:
      return {product, maps + bytes_of(weights)};
    case Half::kBackward:
      return {product, 2 * maps + bytes_of(weights)};
    case Half::kLengths:
      return {product, maps + each};
    case Half::kSum:
      return {0, each + 2 * bytes_of(weights)};
  }
  return {};
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

// Passes over random images, and what each stage of them took.
class Passes {
 public:
  Passes()
      : model_(build_model("convnet", {}, {.shape = {3, 32, 32}, .outputs = 10}), torch::kFloat32),
        at_(model_.initial(stream_)),
        images_(normal(stream_, model_.input_shape(kImages)).to(torch::kFloat32)) {
    pass();
    for (Stage& stage : stages_) stage.seconds.clear();
    for (int i = 0; i < kPasses; ++i) pass();
  }
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  struct Step {
    std::unique_ptr<Rule> rule;
    const Layer* layer;
    const LayerWeights* weights;
    std::int64_t inputs, outputs, parameters;
  };

  void pass() {
    const Weights weights(model_, at_);
    const std::span<const Layer> all = model_.architecture().layers;
    std::vector<Step> steps;
    torch::Tensor value = images_;
    next_ = 0;
    for (std::span<const Layer> rest = all; !rest.empty();) {
      const std::span<const Layer> layers = rest.first(layers_of_next_rule(rest, kImages, /*traced=*/false));
      const LayerWeights& own = weights.of(all.size() - rest.size());
      rest = rest.subspan(layers.size());
      Step step{make_rule(layers, own, value, Want::kPerExample), layers.data(), &own, value.numel(), 0, 0};
      for (const torch::Tensor& parameter : own.parameters) step.parameters += parameter.numel();
      take(step, Half::kForward, [&] {
        value = step.rule->forward(value).contiguous();
        step.outputs = value.numel();
      });
      steps.push_back(std::move(step));
    }
    torch::Tensor deltas = at::softmax(value, 1);
    for (std::size_t i = steps.size(); i-- > 0;)
      take(steps[i], Half::kBackward, [&] { deltas = steps[i].rule->backward(deltas.contiguous(), i > 0); });
    Lengths lengths(kImages);
    for (const Step& step : steps) take(step, Half::kLengths, [&] { step.rule->add_lengths(lengths); });
    const std::vector<double> factors(kImages, 0.5);
    for (const Step& step : steps) {
      std::vector<torch::Tensor> sums;
      for (const torch::Tensor& parameter : step.weights->parameters)
        sums.push_back(at::zeros_like(parameter));
      take(step, Half::kSum, [&] { step.rule->add_sum(factors, sums); });
    }
  }

  template <typename Body>
  void take(const Step& step, Half half, const Body& body) {
    const double seconds = seconds_of(body);
    if (next_ == stages_.size()) {
      stages_.push_back({fmt::format("{} {} {}", kind_of(*step.layer), step.outputs / kImages, name_of(half)),
                         demand_of(*step.layer, half, step.inputs, step.outputs, step.parameters)});
    }
    stages_[next_++].seconds.push_back(seconds);
  }

  Stream stream_{{.seed = 1}};
  Model model_;
  Params at_;
  torch::Tensor images_;
  std::vector<Stage> stages_;
  std::size_t next_ = 0;
};

// A line a stage: its time, its demand, the roofline's time, and which roof that is.
void print_table() {
  keep_freed_memory();
  use_one_torch_thread();
  const Passes passes;
  const double gflops = gemm_gflops(), gib_s = copied_gib_s();
  double all = 0, least = 0;
  for (const Stage& stage : passes.stages()) all += median(stage.seconds);
  fmt::print(
      "One thread, {} images a pass, medians of {} passes. Roofs: {:.1f} GFLOP/s (product of 1024 x 1024), "
      "{:.2f} GiB/s "
      "(copy).\n\n",
      kImages, kPasses, gflops, gib_s);
  fmt::print(
      "| stage | ms | % of all | MFLOP | MiB | GFLOP/s | GiB/s | roof: ms | share |\n"
      "| --- | --: | --: | --: | --: | --: | --: | --: | --: |\n");
  for (const Stage& stage : passes.stages()) {
    const double seconds = median(stage.seconds), of_flops = stage.demand.flops / (1e9 * gflops),
                 of_bytes = stage.demand.bytes / (gib_s * (1 << 30)), roof = std::max(of_flops, of_bytes);
    least += roof;
    if (seconds < 0.003 * all) continue;
    fmt::print("| {} | {:.2f} | {:.0f} | {:.0f} | {:.1f} | {:.0f} | {:.1f} | {:.2f} {} | {:.2f} |\n",
               stage.name, 1e3 * seconds, 100 * seconds / all, 1e-6 * stage.demand.flops,
               stage.demand.bytes / (1 << 20), 1e-9 * stage.demand.flops / seconds,
               stage.demand.bytes / seconds / (1 << 30), 1e3 * roof,
               of_flops > of_bytes ? "operations" : "bytes", roof / seconds);
  }
  fmt::print("| all | {:.2f} | 100 | | | | | {:.2f} | {:.2f} |\n", 1e3 * all, 1e3 * least, least / all);
}

}  // namespace
}  // namespace fedarena::benchmarks

int main() { fedarena::benchmarks::print_table(); }
