// One step of gradient matching: the gradient in 20 and in 100 synthetic images of the distance between the
// ConvNet's gradient on them and a target. The harness' second pass on all cores against differentiating
// twice with LibTorch alone.
#include <memory>

#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"
#include "fedarena/matching.hpp"
#include "fedarena/random.hpp"

#include "benchmarks/plain_net.hpp"
#include "benchmarks/rival.hpp"
#include "benchmarks/speed.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/operations.hpp"
#include "harness/models/zoo.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kTurns = 10;

// Weights, images and a target, the same on both sides.
struct Step {
  explicit Step(std::int64_t images)
      : model(build_model("convnet", {}, {.shape = {3, 32, 32}, .outputs = 10}), torch::kFloat32),
        at(model.initial(stream)),
        batch{normal(stream, model.input_shape(images)).to(model.options()),
              uniform(stream, {images}, 0, 10).to(torch::kInt64)},
        target(model.gradient(at, {normal(stream, model.input_shape(images)).to(model.options()),
                                   uniform(stream, {images}, 0, 10).to(torch::kInt64)})) {}

  Stream stream{{.seed = 1}};
  Model model;
  Params at;
  Batch batch;
  Params target;
};

torch::Tensor by_second_pass(const Step& step, const GradientEngine& engine, const GradientMatching& how) {
  return engine.input_gradient(step.at, step.batch, [&](const Params& gradient) {
    return matching_distance(gradient, step.target, how).slope;
  });
}

// matching_distance as operations that can be differentiated.
torch::Tensor plain_distance(const Params& matched, const Params& target, const GradientMatching& how) {
  torch::Tensor distance = torch::zeros({});
  for (std::size_t index = 0; index < matched.size(); ++index) {
    const std::int64_t rows = matched[index].dim() > 1 ? matched[index].size(0) : 1;
    const torch::Tensor from = matched[index].reshape({rows, -1}), to = target[index].reshape({rows, -1});
    if (how.criterion != "squared") {
      distance = distance + (1 - torch::cosine_similarity(from, to, /*dim=*/1)).sum();
    }
    if (how.criterion != "cosine") {
      const double weight = how.criterion == "squared" ? 1 : how.squared_weight;
      distance = distance + weight * (from - to).square().sum();
    }
  }
  return distance;
}

torch::Tensor by_differentiating_twice(const Step& step, const GradientMatching& how) {
  const torch::Tensor images = step.batch.inputs.detach().requires_grad_();
  const Params gradient = step.model.gradient(step.at, {images, step.batch.targets}, Graph::kKeep);
  return torch::autograd::grad({plain_distance(gradient, step.target, how)}, {images})[0];
}

std::function<void()> prepare_plain(std::int64_t images, bool keeps_memory) {
  if (keeps_memory) keep_freed_memory();
  use_all_cores();
  return [step = std::make_shared<Step>(images)] {
    benchmark::DoNotOptimize(by_differentiating_twice(*step, GradientMatching()));
  };
}

// Both sides must compute the same, or their times mean nothing. The squared distance alone has no rows whose
// direction is rounding, as the cosines of biases before a normalisation are.
void require_same_gradient(const Step& step, const GradientEngine& engine) {
  const GradientMatching squared{.criterion = "squared"};
  const torch::Tensor expected = by_differentiating_twice(step, squared);
  const double error =
      ((by_second_pass(step, engine, squared) - expected).norm() / expected.norm()).item<double>();
  FEDARENA_CHECK(error, <, 1e-3);
}

void matching(benchmark::State& state, std::int64_t images, const Rival& rival) {
  keep_freed_memory();
  use_one_torch_thread();
  const WorkPool pool(WorkPool::available_cores(), use_one_torch_thread);
  const Step step(images);
  const GradientEngine engine(step.model, pool);
  require_same_gradient(step, engine);

  const auto both_passes = static_cast<double>(count_operations(step.model).input_gradient);
  compare(state, rival, static_cast<double>(images), both_passes,
          [&] { benchmark::DoNotOptimize(by_second_pass(step, engine, GradientMatching())); });
  state.counters["rival_gflops_best"] = 1e-9 * both_passes * state.counters["rival_s_best"];
  state.counters["mflop_image"] = 1e-6 * both_passes;
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using namespace fedarena::benchmarks;
  for (const std::int64_t images : {20, 100}) {
    for (const bool keeps_memory : {false, true}) {
      register_against(
          fmt::format("matching/{}/plain{}", images, keeps_memory ? "_that_keeps_memory" : ""),
          [=] { return prepare_plain(images, keeps_memory); },
          [=](benchmark::State& state, const Rival& rival) { matching(state, images, rival); })
          ->Apply(timed_by_hand<kTurns>);
    }
  }
  return run_benchmarks(count, arguments);
}
