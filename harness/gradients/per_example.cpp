#include "harness/gradients/per_example.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/ATen.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "harness/gradients/rule.hpp"

namespace fedarena {
namespace {

// What factors below one lack: more than the relative error of a norm, a factor and a rounded product
// together.
double slack(torch::ScalarType type) { return type == torch::kFloat32 ? 0x1p-19 : 0x1p-40; }

// Bounds within which rules are exact enough. Squares, products and scaled deltas then neither overflow nor
// lose digits to underflow that a contribution of norm clip_norm would miss.
constexpr double kLargest = 1e15;
constexpr double kSmallestBound = 1e-15;
// Scaled deltas are rounded, which moves a gradient by 2^-24 of its reach. Up to this reach it is less than
// slack().
constexpr double kLargestReach = 16;

// One pass of the rules over a micro-batch.
class Pass {
 public:
  Pass(const Model& model, const Params& at, Want want) : model_(model), at_(at), want_(want) {}

  // Leaves every rule with its gradients.
  void run(const Batch& batch) {
    torch::Tensor value = batch.inputs.contiguous();
    std::size_t next = 0;
    std::span<const Layer> rest = model_.architecture().layers;
    while (!rest.empty()) {
      const std::span<const Layer> layers = rest.first(layers_of_next_rule(rest));
      rest = rest.subspan(layers.size());
      std::vector<torch::Tensor> parameters;
      const std::size_t first = next;
      for (; next < first + parameter_count(layers[0]); ++next) parameters.push_back(at_[next]);
      steps_.push_back({make_rule(layers, std::move(parameters), value, want_), first, next});
      value = steps_.back().rule->forward(value).contiguous();
    }
    torch::Tensor deltas = loss_deltas(value, batch.targets);
    if (want_ == Want::kSum) deltas = deltas / static_cast<double>(batch.size());  // of the mean
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const bool wanted = step->first > 0;
      deltas = step->rule->backward(deltas.contiguous(), wanted);
      if (!deltas.defined()) break;
    }
  }

  Lengths lengths(std::int64_t examples) const {
    Lengths result(static_cast<std::size_t>(examples));
    for (const Step& step : steps_) step.rule->add_lengths(result);
    return result;
  }

  void add_sum(std::span<const double> factors, const Params& sum) const {
    for (const Step& step : steps_) {
      std::vector<torch::Tensor> sums;
      for (std::size_t index = step.first; index < step.end; ++index) sums.push_back(sum[index]);
      step.rule->add_sum(factors, sums);
    }
  }

 private:
  struct Step {
    std::unique_ptr<Rule> rule;
    std::size_t first, end;  // its parameters
  };

  static std::size_t parameter_count(const Layer& layer) {
    return std::visit(Overload{[](const Conv2d&) { return 2; }, [](const GroupNorm&) { return 2; },
                               [](const Linear&) { return 2; }, [](const Embedding&) { return 1; },
                               [](const auto&) { return 0; }},
                      layer);
  }

  // Gradient of each example's own loss in its outputs.
  torch::Tensor loss_deltas(const torch::Tensor& outputs, const torch::Tensor& targets) const {
    const bool labels = !targets.is_floating_point();
    const torch::Tensor wanted =
        labels ? at::one_hot(targets, model_.num_classes()).to(outputs.scalar_type()) : targets;
    if (model_.architecture().loss == Loss::kCrossEntropy) return at::softmax(outputs, 1) - wanted;
    return outputs - wanted;
  }

  const Model& model_;
  const Params& at_;
  Want want_;
  std::vector<Step> steps_;
};

bool has_rules(const Model& model) {
  const auto& layers = model.architecture().layers;
  return model.options().device().is_cpu() && std::all_of(layers.begin(), layers.end(), has_rule);
}

}  // namespace

void require_per_example_gradients(const Architecture& architecture) {
  for (const Layer& layer : architecture.layers) {
    if (!std::holds_alternative<BatchNorm>(layer)) continue;
    throw Error(Complaint{
        .found =
            "the model normalises over batches (BatchNorm), so one example's gradient depends on the other "
            "examples of its batch, and clipping it does not bound what an example can change",
        .remedy = "Use GroupNorm, which normalises each example by itself."});
  }
}

std::string per_example_warning(const Model& model) {
  std::string names;
  for (const Layer& layer : model.architecture().layers) {
    const auto* custom = std::get_if<Custom>(&layer);
    if (custom == nullptr || names.find("\"" + custom->name + "\"") != std::string::npos) continue;
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", custom->name);
  }
  if (names.empty()) return {};
  return fmt::format(
      "No rule for per-example gradients of {}: they are taken one example at a time, several times slower",
      names);
}

ClippedSum clipped_one_by_one(const Model& model, const Params& at, double clip_norm, const Batch& batch) {
  ClippedSum result{.sum = zeros_like(at), .examples = batch.size()};
  torch::Tensor sum = torch::zeros_like(at.flat(), torch::kFloat64);
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const Params gradient = model.gradient(at, {batch.inputs.narrow(0, i, 1), batch.targets.narrow(0, i, 1)});
    const torch::Tensor exact = gradient.flat().to(torch::kFloat64);
    const auto largest = exact.numel() == 0 ? 0.0 : exact.abs().max().item<double>();
    if (largest == 0) continue;
    if (!std::isfinite(largest)) {
      ++result.clipped;
      continue;
    }
    // Of norm between one and the root of the number of parameters, whatever the gradient's own magnitude.
    const torch::Tensor scaled = exact / largest;
    const auto norm = scaled.norm().item<double>();
    const double bound = (1 - slack(at.flat().scalar_type())) * clip_norm;
    result.clipped += norm * largest > clip_norm;
    if (norm * largest <= bound) {
      sum += exact;
    } else {
      sum.add_(scaled, bound / norm);
    }
  }
  result.sum.flat().copy_(sum);
  return result;
}

ClippedSum clipped_by_rules(const Model& model, const Params& at, double clip_norm, const Batch& batch) {
  if (!has_rules(model) || clip_norm < kSmallestBound) {
    return clipped_one_by_one(model, at, clip_norm, batch);
  }
  const torch::NoGradGuard no_graph;
  Pass pass(model, at, Want::kPerExample);
  pass.run(batch);
  const Lengths lengths = pass.lengths(batch.size());

  ClippedSum result{.sum = zeros_like(at), .examples = batch.size()};
  const double bound = (1 - slack(at.flat().scalar_type())) * clip_norm;
  std::vector<double> factors;
  std::vector<std::int64_t> extreme;
  for (std::size_t i = 0; i < lengths.squared.size(); ++i) {
    const double norm = std::sqrt(lengths.squared[i]);
    // Written so that NaN is extreme.
    const bool ordinary =
        norm <= kLargest && lengths.inputs[i] <= kLargest && lengths.reach[i] <= kLargestReach * norm;
    if (!ordinary) extreme.push_back(static_cast<std::int64_t>(i));
    factors.push_back(!ordinary ? 0 : norm <= bound ? 1 : bound / norm);
    result.clipped += ordinary && norm > clip_norm;
  }
  pass.add_sum(factors, result.sum);
  if (!extreme.empty()) {
    const ClippedSum rest = clipped_one_by_one(model, at, clip_norm, batch.select(torch::tensor(extreme)));
    result.sum += rest.sum;
    result.clipped += rest.clipped;
  }
  return result;
}

Params mean_by_rules(const Model& model, const Params& at, const Batch& batch) {
  if (!has_rules(model)) return model.gradient(at, batch);
  const torch::NoGradGuard no_graph;
  Pass pass(model, at, Want::kSum);
  pass.run(batch);
  Params mean = zeros_like(at);
  pass.add_sum(std::vector<double>(static_cast<std::size_t>(batch.size()), 1.0), mean);
  return mean;
}

}  // namespace fedarena
