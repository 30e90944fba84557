// A step of DataLens' 200 teachers, side by side on all cores, against one after the other as one would write
// them with LibTorch: autograd and its SGD. MNIST's shape, ten classes, 30 real and 30 generated images.
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <torch/optim/sgd.h>

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
constexpr TeacherShape kShape{.pixels = 784, .classes = 10, .rate = 0.1, .decay = 0.2};

// The same on both sides.
struct Lesson {
  Stream stream{{.seed = 1}};
  torch::Tensor labels = uniform(stream, {kTeachers, kImages}, 0, kShape.classes).to(torch::kInt64);
  Batch real = images(), generated = images();

  Batch images() { return {normal(stream, {kTeachers, kImages, kShape.pixels}).to(torch::kFloat32), labels}; }
};

Batch part_of(const Batch& batch, std::int64_t first, std::int64_t count) {
  return {batch.inputs.narrow(0, first, count), batch.targets.narrow(0, first, count)};
}

class PlainTeacher {
 public:
  void learn(const torch::Tensor& real, const torch::Tensor& generated, const torch::Tensor& labels) {
    sgd_.zero_grad();
    const torch::Tensor loss =
        torch::softplus(-outputs(real, labels)).mean() + torch::softplus(outputs(generated, labels)).mean();
    loss.backward();
    sgd_.step();
  }
  torch::Tensor weights() const { return weights_.detach(); }

 private:
  torch::Tensor outputs(const torch::Tensor& pixels, const torch::Tensor& labels) const {
    return (pixels * torch::embedding(weights_, labels)).sum(1) + biases_.index_select(0, labels);
  }

  torch::Tensor weights_ = torch::zeros({kShape.classes, kShape.pixels}, torch::requires_grad()),
                biases_ = torch::zeros({kShape.classes}, torch::requires_grad());
  torch::optim::SGD sgd_{{weights_, biases_},
                         torch::optim::SGDOptions(kShape.rate).weight_decay(kShape.decay)};
};

struct PlainTeachers {
  Lesson lesson;
  std::vector<PlainTeacher> teachers{kTeachers};

  void learn() {
    for (std::int64_t i = 0; i < kTeachers; ++i)
      teachers[static_cast<std::size_t>(i)].learn(lesson.real.inputs[i], lesson.generated.inputs[i],
                                                  lesson.labels[i]);
  }
};

// Blocks as the oracle makes them.
class Blocks {
 public:
  explicit Blocks(const WorkPool& pool) : pool_(pool) {
    for (std::int64_t first = 0; first < kTeachers; first += kBlock) {
      const std::int64_t count = std::min(kBlock, kTeachers - first);
      teachers_.emplace_back(kShape, count, torch::kFloat32);
      real_.push_back(part_of(lesson_.real, first, count));
      generated_.push_back(part_of(lesson_.generated, first, count));
    }
  }
  void learn() {
    pool_.for_each(teachers_.size(), [&](std::size_t i) { teachers_[i].learn(real_[i], generated_[i]); });
  }
  torch::Tensor weights(std::int64_t teacher) const {
    return teachers_[static_cast<std::size_t>(teacher / kBlock)].weights()[teacher % kBlock];
  }

 private:
  const WorkPool& pool_;
  Lesson lesson_;
  std::vector<Teachers> teachers_;
  std::vector<Batch> real_, generated_;
};

// Both sides must learn the same, or their times mean nothing.
void require_same_teachers(const WorkPool& pool) {
  PlainTeachers plain;
  Blocks blocks(pool);
  plain.learn();
  blocks.learn();
  for (const std::int64_t teacher : {std::int64_t{0}, kTeachers - 1}) {
    const torch::Tensor moved = plain.teachers[static_cast<std::size_t>(teacher)].weights();
    FEDARENA_CHECK(((blocks.weights(teacher) - moved).norm() / moved.norm()).item<double>(), <, 1e-4);
  }
}

void teachers(benchmark::State& state, const Rival& rival) {
  keep_freed_memory();
  use_one_torch_thread();
  const WorkPool pool(WorkPool::available_cores(), use_one_torch_thread);
  require_same_teachers(pool);
  Blocks blocks(pool);
  // Products with the weights of a class, on the way there and back.
  const auto flops = static_cast<double>(std::int64_t{8} * kImages * kShape.pixels);
  compare(state, rival, kTeachers, flops, [&] { blocks.learn(); });
}

}  // namespace
}  // namespace fedarena::benchmarks

int main(int count, char** arguments) {
  using namespace fedarena::benchmarks;
  for (const bool all_cores : {true, false}) {
    const auto prepare = [=] {
      all_cores ? use_all_cores() : fedarena::use_one_torch_thread();
      return [plain = std::make_shared<PlainTeachers>()] { plain->learn(); };
    };
    register_against(all_cores ? "teachers/plain" : "teachers/plain_on_one_thread", prepare, teachers)
        ->Apply(timed_by_hand<kTurns>);
  }
  return run_benchmarks(count, arguments);
}
