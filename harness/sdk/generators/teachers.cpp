#include "harness/sdk/generators/teachers.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/run_vectorised.hpp"
#include "fedarena/base/sum_of.hpp"

namespace fedarena::generators {
namespace {

constexpr Key<torch::Tensor> kTeacherWeights{"weights"}, kTeacherBiases{"biases"};

// What all teachers learn from, and the derivative of one teacher's loss in its output for each input.
template <typename T>
struct Lesson {
  Lesson(const Batch& batch, T of_truth)
      : inputs(batch.inputs.cpu().contiguous()),
        classes(batch.targets.cpu().contiguous()),
        truth(of_truth),
        slopes(static_cast<std::size_t>(batch.targets.size(1))) {}

  torch::Tensor inputs, classes;
  T truth;  // 1 for real ones, 0 for generated ones
  std::vector<T> slopes;
};

// One of them.
template <typename T>
struct Teacher {
  std::int64_t number;
  const TeacherShape& shape;
  T* weights;
  T* biases;

  // visit(input, its class, its slope) for each of a lesson's.
  template <typename Visit>
  void for_each(Lesson<T>& lesson, const Visit& visit) const {
    const auto count = static_cast<std::int64_t>(lesson.slopes.size());
    const T* input = lesson.inputs.template data_ptr<T>() + number * count * shape.pixels;
    const auto* one_class = lesson.classes.template data_ptr<std::int64_t>() + number * count;
    for (T& slope : lesson.slopes) {
      visit(input, *one_class++, slope);
      input += shape.pixels;
    }
  }
  void answer(Lesson<T>& lesson) const {
    for_each(lesson, [&](const T* input, std::int64_t one_class, T& slope) {
      const T* own = weights + one_class * shape.pixels;
      const T output =
          biases[one_class] +
          static_cast<T>(sum_of<T>(shape.pixels, [own, input](std::int64_t i) { return own[i] * input[i]; }));
      slope = (1 / (1 + std::exp(-output)) - lesson.truth) / static_cast<T>(lesson.slopes.size());
    });
  }
  void forget(T kept) const {
    for (std::int64_t i = 0; i < shape.classes * shape.pixels; ++i) weights[i] *= kept;
    for (std::int64_t i = 0; i < shape.classes; ++i) biases[i] *= kept;
  }
  void descend(Lesson<T>& lesson, T rate) const {
    for_each(lesson, [&](const T* input, std::int64_t one_class, T& slope) {
      T* own = weights + one_class * shape.pixels;
      const T step = rate * slope;
      for (std::int64_t i = 0; i < shape.pixels; ++i) own[i] -= step * input[i];
      biases[one_class] -= step;
    });
  }
};

}  // namespace

Teachers::Teachers(const TeacherShape& shape, std::int64_t teachers, const torch::TensorOptions& options)
    : shape_(shape),
      weights_(torch::zeros({teachers, shape.classes, shape.pixels}, options.device(torch::kCPU))),
      biases_(torch::zeros({teachers, shape.classes}, options.device(torch::kCPU))) {}

Teachers::Teachers(const TeacherShape& shape, const Message& memory)
    : shape_(shape),
      weights_(memory[kTeacherWeights].contiguous()),
      biases_(memory[kTeacherBiases].contiguous()) {}

Message Teachers::memory() const { return {{kTeacherWeights, weights_}, {kTeacherBiases, biases_}}; }

void Teachers::learn(const Batch& real, const Batch& generated) {
  for (const Batch* batch : {&real, &generated}) {
    FEDARENA_CHECK(batch->targets.min().item<std::int64_t>(), >=, 0);
    FEDARENA_CHECK(batch->targets.max().item<std::int64_t>(), <, shape_.classes);
  }
  AT_DISPATCH_FLOATING_TYPES(weights_.scalar_type(), "teachers", [&] {
    const auto rate = static_cast<scalar_t>(shape_.rate);
    const auto kept = static_cast<scalar_t>(1 - shape_.rate * shape_.decay);
    auto* weights = weights_.data_ptr<scalar_t>();
    auto* biases = biases_.data_ptr<scalar_t>();
    Lesson<scalar_t> of_real(real, 1), of_generated(generated, 0);
    run_vectorised([&] {
      for (std::int64_t number = 0; number < weights_.size(0); ++number) {
        const Teacher<scalar_t> teacher{number, shape_, weights + number * shape_.classes * shape_.pixels,
                                        biases + number * shape_.classes};
        teacher.answer(of_real);
        teacher.answer(of_generated);
        teacher.forget(kept);
        teacher.descend(of_real, rate);
        teacher.descend(of_generated, rate);
      }
    });
  });
}

torch::Tensor Teachers::slopes(const Batch& generated) const {
  const auto of_class = [&](const torch::Tensor& rows) {  // [teachers, m, ..]
    return rows.to(generated.inputs.device()).index_select(1, generated.targets);
  };
  const torch::Tensor weights = of_class(weights_);
  const torch::Tensor outputs =
      (weights * generated.inputs).sum(2, /*keepdim=*/true) + of_class(biases_).unsqueeze(2);
  return weights * at::sigmoid(-outputs).div_(static_cast<double>(generated.size()));
}

torch::Tensor within_range(const torch::Tensor& slopes, const torch::Tensor& images) {
  return slopes.clamp_min(0) * (1 - images) + slopes.clamp_max(0) * images;
}

torch::Tensor top_signs(const torch::Tensor& slopes, double scale, const torch::Tensor& draws) {
  const auto [sizes, places] = slopes.abs().topk(draws.size(1), /*dim=*/1);
  // All slopes may be zero, and their signs are coins then.
  const torch::Tensor most = sizes.narrow(1, 0, 1).clamp(1e-30, scale);
  const torch::Tensor positive = slopes.gather(1, places) / (2 * most) + 0.5;
  const torch::Tensor signs = draws.lt(positive).to(slopes.options()) * 2 - 1;
  return torch::zeros_like(slopes).scatter_(1, places, signs);
}

torch::Tensor crossings(const torch::Tensor& votes, std::int64_t voters, double share) {
  const double least = share * static_cast<double>(voters);
  return votes.gt(least).to(votes.options()) - votes.lt(-least).to(votes.options());
}

}  // namespace fedarena::generators
