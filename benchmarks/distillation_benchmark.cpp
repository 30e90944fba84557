// Steps of a student on what teachers say, against steps of plain training on labels: the same model, batches
// and cores, in turns.
#include <vector>

#include <benchmark/benchmark.h>

#include "fedarena/adam.hpp"
#include "fedarena/distillation.hpp"

#include "benchmarks/arena.hpp"
#include "benchmarks/speed.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr int kTurns = 15, kSteps = 20;
constexpr std::int64_t kTeachers = 10;

void distillation(benchmark::State& state, std::int64_t batch_size, double temperature, bool fresh_teachers) {
  const Arena arena({.model = "niid-cnn", .input_shape = {1, 28, 28}, .examples = 1});
  const Model& model = arena.model();
  const Compute& compute = arena.compute();
  Stream stream({.seed = 1});
  std::vector<Params> teachers;
  for (std::int64_t teacher = 0; teacher < kTeachers; ++teacher) teachers.push_back(model.initial(stream));
  const Distillation taught(model, compute, teachers, temperature);
  const Batch labelled{normal(stream, model.input_shape(batch_size)).to(model.options()),
                       uniform(stream, {batch_size}, 0, 10).to(torch::kInt64)};
  const Batch lesson{labelled.inputs, taught.mean_outputs(labelled.inputs)};

  Params trained = model.initial(stream), student = trained;
  Adam adam;
  const auto train = [&] {
    for (int step = 0; step < kSteps; ++step) trained.add_scaled(-0.01, compute.gradient(trained, labelled));
  };
  const auto distil = [&] {
    for (int step = 0; step < kSteps; ++step) {
      const Batch now{lesson.inputs, fresh_teachers ? taught.mean_outputs(lesson.inputs) : lesson.targets};
      adam.step(student, taught.gradient(student, now), 1e-3);
    }
  };
  const Turns turns = take_turns(state, timed(train), timed(distil));
  const auto examples = static_cast<double>(kSteps * batch_size);
  state.counters["ratio"] = median(ratios(turns.first.wall, turns.second.wall));
  state.counters["samples_s"] = examples / median(turns.second.wall);
  state.counters["plain_s"] = examples / median(turns.first.wall);
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using fedarena::benchmarks::distillation;
  for (const std::int64_t batch_size : {128, 1024}) {
    for (const double temperature : {1.0, 20.0}) {
      for (const bool fresh : {false, true}) {
        const auto name = fmt::format("distillation/{}/{}/{}", batch_size, temperature,
                                      fresh ? "ten_teachers_speak" : "teachers_have_spoken");
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          distillation(state, batch_size, temperature, fresh);
        })->Apply(fedarena::benchmarks::timed_by_hand<fedarena::benchmarks::kTurns>);
      }
    }
  }
  return fedarena::benchmarks::run_benchmarks(count, arguments);
}
