#include "generator.hpp"

#include <limits>
#include <vector>

#include <ATen/ATen.h>

#include <fedarena/adam.hpp>
#include <fedarena/custom_layers.hpp>

namespace dense {

using namespace fedarena;

namespace {

constexpr double kLeak = 0.2;
constexpr Adam::Settings kMoments{.beta1 = 0.5};

Architecture network(const Synthesis& config, const Model& model) {
  const std::vector<std::int64_t>& image = model.architecture().input_shape;
  if (image.size() != 3 || image[1] % 4 != 0 || image[2] % 4 != 0) {
    throw Error(Complaint{.found = "dense makes images, but the model takes something else",
                          .allowed = "images whose height and width are multiples of 4"});
  }
  const std::int64_t height = image[1] / 4, width = image[2] / 4, narrow = config.generator_width,
                     wide = 2 * narrow;
  return {.input_shape = {config.noise_size},
          .outputs = image[0] * image[1] * image[2],
          .layers = {Linear{config.noise_size, wide * height * width}, reshape({wide, height, width}),
                     GroupNorm{1, wide}, upsample(2), Conv2d{wide, wide, 3, 1}, GroupNorm{1, wide},
                     leaky_relu(kLeak), upsample(2), Conv2d{wide, narrow, 3, 1}, GroupNorm{1, narrow},
                     leaky_relu(kLeak), Conv2d{narrow, image[0], 3, 1}, sigmoid(), Flatten{}},
          .loss = Loss::kSquaredError};
}

// Its mean over images, and the derivatives of that in both outputs.
struct Objective {
  double value;
  torch::Tensor teacher_slopes, student_slopes;
};

// Cross-entropy of the teachers with the classes, less the divergence of the student where it contradicts.
Objective objective(const Synthesis& config, const torch::Tensor& teachers, const torch::Tensor& student,
                    const torch::Tensor& classes) {
  const torch::Tensor log_p = at::log_softmax(teachers, 1), log_q = at::log_softmax(student, 1);
  const torch::Tensor p = log_p.exp(), q = log_q.exp(), ratio = log_p - log_q;
  const torch::Tensor divergence = (p * ratio).sum(1, /*keepdim=*/true);
  const torch::Tensor contradicts =
      config.adversarial_weight *
      teachers.argmax(1, /*keepdim=*/true).ne(student.argmax(1, /*keepdim=*/true)).to(p.scalar_type());
  const torch::Tensor wanted = at::one_hot(classes, teachers.size(1)).to(p.scalar_type());
  const auto count = static_cast<double>(teachers.size(0));
  const torch::Tensor value =
      -config.label_weight * (wanted * log_p).sum() - (contradicts * divergence).sum();
  return {
      .value = value.item<double>() / count,
      .teacher_slopes = (config.label_weight * (p - wanted) - contradicts * p * (ratio - divergence)) / count,
      .student_slopes = contradicts * (p - q) / count};
}

}  // namespace

Schema<Synthesis> Synthesis::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return {
      {"generator_steps", &Synthesis::generator_steps, "steps of a fresh generator for a batch of images",
       count},
      {"generator_rate", &Synthesis::generator_rate, "rate of the generator's Adam", Constraint::positive()},
      {"generator_width", &Synthesis::generator_width,
       "channels of the generator's last convolution but one; twice as many before",
       Constraint::between(1, 4096)},
      {"noise_size", &Synthesis::noise_size, "numbers that an image is made of", count},
      {"synthetic_batch_size", &Synthesis::synthetic_batch_size,
       "images in a batch that is made, and in one that the student learns from", count},
      {"label_weight", &Synthesis::label_weight,
       "weight of the cross-entropy of the teachers with the classes that were asked for",
       Constraint::at_least(0)},
      {"adversarial_weight", &Synthesis::adversarial_weight,
       "weight of the divergence of the student from the teachers where they say different classes",
       Constraint::at_least(0)},
  };
}

Generator::Generator(const Synthesis& config, const Server& server)
    : config_(config),
      server_(server),
      network_(network(config, server.model), server.model.options()),
      compute_(server.compute.on(network_)) {
  torch::Tensor range = server.pixel_range;
  if (!range.defined()) range = torch::tensor({{0.0}, {1.0}}, torch::kFloat64).to(server.model.options());
  black_ = range[0].view({1, -1, 1, 1});
  contrast_ = (range[1] - range[0]).view({1, -1, 1, 1});
}

torch::Tensor Generator::images(const torch::Tensor& outputs) const {
  return outputs.view(server_.model.input_shape(outputs.size(0))) * contrast_ + black_;
}

Synthetic Generator::synthesise(const Distillation& teachers, const Params& student, Stream& draws) const {
  const std::int64_t count = config_.synthetic_batch_size, classes = server_.model.num_classes();
  Params weights = network_.initial(draws);
  const torch::Tensor noise = normal(draws, {count, config_.noise_size}).to(network_.options());
  torch::Tensor labels = torch::empty({count}, torch::kInt64);
  for (std::int64_t i = 0; i < count; ++i)
    labels[i] = static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(classes)));
  labels = labels.to(network_.options().device());

  const Compute& models = server_.compute;
  const auto share = 1 / static_cast<double>(teachers.teachers().size());
  Adam of_weights(kMoments), of_noise(kMoments);
  Synthetic best{{}, std::numeric_limits<double>::infinity()};
  for (std::int64_t step = 0; step < config_.generator_steps; ++step) {
    const torch::Tensor made = images(compute_->outputs(weights, noise));
    const Objective now =
        objective(config_, teachers.mean_outputs(made), models.outputs(student, made), labels);
    if (step == 0 || now.value < best.objective) best = {{made, labels}, now.value};
    torch::Tensor slopes = models.output_gradient(student, made, now.student_slopes).inputs;
    for (const Params& teacher : teachers.teachers())
      slopes += models.output_gradient(teacher, made, now.teacher_slopes * share).inputs;
    const auto moves = compute_->output_gradient(weights, noise, (slopes * contrast_).flatten(1));
    of_weights.step(weights, moves.parameters, config_.generator_rate);
    of_noise.step(noise, moves.inputs, config_.generator_rate);
  }
  return best;
}

}  // namespace dense
