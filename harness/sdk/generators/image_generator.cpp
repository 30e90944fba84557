#include "harness/sdk/generators/image_generator.hpp"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include "fedarena/custom_layers.hpp"

namespace fedarena::generators {
namespace {

constexpr double kGeneratorLeak = 0.2;

std::int64_t pixels_of(const Model& model) {
  return c10::multiply_integers(model.architecture().input_shape);
}

Architecture layers_of(const Generators& config, const Model& model) {
  const std::int64_t codes = config.noise_size + model.num_classes(), width = config.generator_width,
                     pixels = pixels_of(model);
  return {.input_shape = {codes},
          .outputs = pixels,
          .layers = {Linear{codes, width}, leaky_relu(kGeneratorLeak), Linear{width, width},
                     leaky_relu(kGeneratorLeak), Linear{width, pixels}},
          .loss = Loss::kSquaredError};
}

}  // namespace

PixelScale::PixelScale(const Client& client) {
  const torch::TensorOptions& options = client.model.options();
  const std::int64_t pixels = pixels_of(client.model);
  black_ = torch::zeros({pixels}, options);
  contrast_ = torch::ones({pixels}, options);
  if (!client.pixel_range.defined()) return;
  const torch::Tensor range = client.pixel_range.to(options);
  const std::int64_t of_channel = pixels / range.size(1);
  black_ = range[0].repeat_interleave(of_channel);
  contrast_ = (range[1] - range[0]).repeat_interleave(of_channel);
}

torch::Tensor labels_in_turn(const Client& client, std::int64_t count, std::int64_t first) {
  const auto options = torch::TensorOptions(torch::kInt64).device(client.model.options().device());
  return (torch::arange(count, options) + first).remainder(client.model.num_classes());
}

torch::Tensor labels_of_set(const Client& client, std::int64_t count) {
  const std::int64_t classes = client.model.num_classes();
  return labels_in_turn(client, count, count < classes ? client.id % classes * count : 0);
}

ImageGenerator::ImageGenerator(const Generators& config, const Client& client)
    : noise_size_(config.noise_size),
      classes_(client.model.num_classes()),
      network_(layers_of(config, client.model), client.model.options()),
      compute_(client.compute.on(network_)) {
  Stream stream = stream_of(client.streams, Draw::kWeights);
  weights_ = network_.initial(stream);
}

torch::Tensor ImageGenerator::codes(const torch::Tensor& labels, Stream& stream) const {
  const torch::Tensor noise = normal(stream, {labels.size(0), noise_size_}).to(network_.options());
  return at::cat({noise, at::one_hot(labels, classes_).to(noise.options())}, 1);
}

torch::Tensor ImageGenerator::pixels(const torch::Tensor& codes) const {
  return compute_->outputs(weights_, codes).sigmoid_();
}

void ImageGenerator::descend(const torch::Tensor& codes, const torch::Tensor& pixels,
                             const torch::Tensor& slopes, double rate) {
  step(codes, slopes * pixels * (1 - pixels), rate);
}

void ImageGenerator::approach(const torch::Tensor& codes, const torch::Tensor& pixels,
                              const torch::Tensor& wanted, double rate) {
  step(codes, pixels - wanted, rate);
}

void ImageGenerator::step(const torch::Tensor& codes, const torch::Tensor& slopes, double rate) {
  const Params gradient =
      compute_->output_gradient(weights_, codes, slopes.to(network_.options())).parameters;
  adam_.step(weights_, gradient, rate);
}

}  // namespace fedarena::generators
