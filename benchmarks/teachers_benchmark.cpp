// A step of DataLens' 200 teachers, side by side on all cores, against one after the other as one would write
// them with LibTorch: autograd and its Adam. MNIST's shape, ten classes, 30 real and 30 generated images.
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <torch/optim/adam.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"
#include "fedarena/random.hpp"

#include "benchmarks/plain_net.hpp"
#include "benchmarks/rival.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/sdk/generators/teachers.hpp"

namespace fedarena::benchmarks {
namespace {

using generators::Teachers;
using generators::TeacherShape;

constexpr int kTurns = 15;
constexpr std::int64_t kTeachers = 200, kBlock = 32, kImages = 30;
constexpr double kRate = 1e-3;
constexpr TeacherShape kShape{.pixels = 784, .classes = 10, .width = 32};

// The same on both sides.
struct Lesson {
  Stream stream{{.seed = 1}};
  torch::Tensor weights = (0.05 * normal(stream, {kTeachers, kShape.numbers()})).to(torch::kFloat32),
                real = normal(stream, {kTeachers, kImages, kShape.inputs()}).to(torch::kFloat32),
                generated = normal(stream, {kImages, kShape.inputs()}).to(torch::kFloat32);
};

class PlainTeacher {
 public:
  explicit PlainTeacher(const torch::Tensor& weights)
      : first_(weights.narrow(0, 0, kHidden).view({kShape.width, kShape.inputs()}).clone().requires_grad_()),
        second_(weights.narrow(0, kHidden, kShape.width).view({1, kShape.width}).clone().requires_grad_()),
        bias_(weights.narrow(0, kHidden + kShape.width, 1).clone().requires_grad_()),
        adam_({first_, second_, bias_}, torch::optim::AdamOptions(kRate).betas({0.5, 0.999})) {}

  void learn(const torch::Tensor& real, const torch::Tensor& generated) {
    adam_.zero_grad();
    const torch::Tensor loss =
        torch::softplus(-outputs(real)).mean() + torch::softplus(outputs(generated)).mean();
    loss.backward();
    adam_.step();
  }
  torch::Tensor weights() const { return torch::cat({first_.flatten(), second_.flatten(), bias_}).detach(); }

 private:
  static constexpr std::int64_t kHidden = kShape.width * kShape.inputs();
  torch::Tensor outputs(const torch::Tensor& inputs) const {
    return torch::linear(torch::leaky_relu(torch::linear(inputs, first_), 0.2), second_, bias_);
  }

  torch::Tensor first_, second_, bias_;
  torch::optim::Adam adam_;
};

struct PlainTeachers {
  Lesson lesson;
  std::vector<PlainTeacher> teachers;

  PlainTeachers() {
    for (std::int64_t i = 0; i < kTeachers; ++i) teachers.emplace_back(lesson.weights[i]);
  }
  void learn() {
    for (std::size_t i = 0; i < teachers.size(); ++i)
      teachers[i].learn(lesson.real[static_cast<std::int64_t>(i)], lesson.generated);
  }
};

// Blocks as the oracle makes them.
class Blocks {
 public:
  explicit Blocks(const WorkPool& pool) : pool_(pool) {
    for (std::int64_t first = 0; first < kTeachers; first += kBlock) {
      const std::int64_t count = std::min(kBlock, kTeachers - first);
      teachers_.emplace_back(kShape, lesson_.weights.narrow(0, first, count).clone());
      real_.push_back(lesson_.real.narrow(0, first, count));
    }
  }
  void learn() {
    pool_.for_each(teachers_.size(),
                   [&](std::size_t i) { teachers_[i].learn(real_[i], lesson_.generated, kRate); });
  }
  torch::Tensor weights(std::int64_t teacher) const {
    return teachers_[static_cast<std::size_t>(teacher / kBlock)].weights()[teacher % kBlock];
  }

 private:
  const WorkPool& pool_;
  Lesson lesson_;
  std::vector<Teachers> teachers_;
  std::vector<torch::Tensor> real_;
};

// Both sides must learn the same, or their times mean nothing.
void require_same_teachers(const WorkPool& pool) {
  PlainTeachers plain;
  Blocks blocks(pool);
  plain.learn();
  blocks.learn();
  for (const std::int64_t teacher : {std::int64_t{0}, kTeachers - 1}) {
    const torch::Tensor moved =
        plain.teachers[static_cast<std::size_t>(teacher)].weights() - plain.lesson.weights[teacher];
    const torch::Tensor apart = blocks.weights(teacher) - plain.lesson.weights[teacher] - moved;
    FEDARENA_CHECK((apart.norm() / moved.norm()).item<double>(), <, 1e-2);
  }
}

void teachers(benchmark::State& state, const Rival& rival) {
  keep_freed_memory();
  use_one_torch_thread();
  const WorkPool pool(WorkPool::available_cores(), use_one_torch_thread);
  require_same_teachers(pool);
  Blocks blocks(pool);
  Duel duel([&] { blocks.learn(); }, rival);
  for (auto _ : state) state.SetIterationTime(duel.turn());
  // Products with the hidden layer's weights, on the way there and back.
  const auto flops = static_cast<double>(std::int64_t{8} * kImages * kShape.width * kShape.inputs());
  duel.report(state, kTeachers, flops);
  state.counters["gemm_gflops"] = gemm_gflops();
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using namespace fedarena::benchmarks;
  const Rival all_cores([] {
    use_all_cores();
    return [plain = std::make_shared<PlainTeachers>()] { plain->learn(); };
  });
  const Rival one_thread([] {
    fedarena::use_one_torch_thread();
    return [plain = std::make_shared<PlainTeachers>()] { plain->learn(); };
  });
  for (const auto& [name, rival] :
       {std::pair{"teachers/plain", &all_cores}, std::pair{"teachers/plain_on_one_thread", &one_thread}}) {
    benchmark::RegisterBenchmark(name, [rival = rival](benchmark::State& state) {
      teachers(state, *rival);
    })->Apply(timed_by_hand<kTurns>);
  }
  return run_benchmarks(count, arguments);
}
