#include "fedarena/distillation.hpp"

#include <utility>
#include <variant>

#include <ATen/ATen.h>

#include "fedarena/model_averaging.hpp"

namespace fedarena {

std::vector<Params> decode_models(const Uplink& uplink, const Params& start) {
  std::vector<Params> models;
  for (const Message& message : uplink.each()) {
    if (message[kExamples] > 0) models.push_back(start + message[kUpdate]);
  }
  return models;
}

Distillation::Distillation(const Model& model, const Compute& compute, std::vector<Params> teachers,
                           double temperature)
    : model_(model), compute_(compute), teachers_(std::move(teachers)), temperature_(temperature) {
  FEDARENA_CHECK(teachers_.size(), >=, 1U);
  FEDARENA_CHECK(temperature_, >, 0);
}

torch::Tensor Distillation::mean_outputs(const torch::Tensor& inputs) const {
  torch::Tensor sum = compute_.outputs(teachers_.front(), inputs);
  for (std::size_t index = 1; index < teachers_.size(); ++index)
    sum += compute_.outputs(teachers_[index], inputs);
  return sum.div_(static_cast<double>(teachers_.size()));
}

Params Distillation::gradient(const Params& student, const Batch& lesson) const {
  if (model_.architecture().loss == Loss::kSquaredError) return compute_.gradient(student, lesson);
  const torch::Tensor taught = at::softmax(lesson.targets / temperature_, 1);
  const bool ends_affinely = std::holds_alternative<Linear>(model_.architecture().layers.back());
  if (temperature_ == 1 || ends_affinely) return softened_gradient(student, {lesson.inputs, taught});
  const torch::Tensor known = at::softmax(compute_.outputs(student, lesson.inputs) / temperature_, 1);
  const torch::Tensor slopes = (known - taught) * (temperature_ / static_cast<double>(lesson.size()));
  return compute_.output_gradient(student, lesson.inputs, slopes).parameters;
}

// The last weights divided by T give softened outputs, whose cross-entropy has the divergence's gradient: one
// pass where outputs and their gradient take two.
Params Distillation::softened_gradient(const Params& student, const Batch& lesson) const {
  if (temperature_ == 1) return compute_.gradient(student, lesson);
  const auto soften_last = [&](const Params& params) {
    for (const std::size_t weight_or_bias : {params.size() - 2, params.size() - 1})
      params[weight_or_bias].div_(temperature_);
  };
  Params softened = student;
  soften_last(softened);
  Params gradient = compute_.gradient(softened, lesson);
  gradient *= temperature_ * temperature_;
  soften_last(gradient);
  return gradient;
}

}  // namespace fedarena
