// DP-MERF: Harder, Adamczewski, Park, "DP-MERF: differentially private mean embeddings with random features
// for practical privacy-preserving data generation", AISTATS 2021 (arXiv:2002.11603). The mean of random
// Fourier features of the examples, class by class, is released once; a generator whose images have the same
// mean features costs no more privacy.
//
// Differs from the authors' code (github.com/ParkLabML/DP-MERF): counts of classes are released in the same
// vector, divide the sums of features and weigh the classes, as Section 4.2 of the paper has it for unequal
// classes, where the code's images count on equal ones; classes whose noisy count is below 1 have no weight;
// the generator is the multilayer perceptron of the other generators, without batch normalisation, under Adam
// with their beta_1 of 0.5; its batches have all classes in turn, at least once each.
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "fedarena/features.hpp"

#include "harness/sdk/generators/image_generator.hpp"

namespace fedarena::generators {
namespace {

// [cos(x w), sin(x w)] / sqrt(number of frequencies), of norm 1: products of two are a Gaussian kernel, in
// the mean over the frequencies w ~ N(0, 1 / length scale^2) (Rahimi and Recht, NIPS 2007).
class FourierFeatures {
 public:
  FourierFeatures(const Generators& config, const Client& client, std::int64_t pixels)
      : scale_(1 / std::sqrt(static_cast<double>(config.merf_frequencies))) {
    Stream stream = stream_of(client.streams, Draw::kFrequencies);
    frequencies_ = (normal(stream, {pixels, config.merf_frequencies}) / config.merf_length_scale)
                       .to(client.model.options());
  }

  // [n, 2 * frequencies] of [n, pixels].
  torch::Tensor operator()(const torch::Tensor& pixels) const {
    const torch::Tensor phases = pixels.matmul(frequencies_);
    return at::cat({phases.cos(), phases.sin()}, 1) * scale_;
  }
  // Derivatives in the pixels, of a scalar that has these in their features.
  torch::Tensor back(const torch::Tensor& features, const torch::Tensor& slopes) const {
    const auto cosine = features.chunk(2, 1), slope = slopes.chunk(2, 1);
    return (cosine[0] * slope[1] - cosine[1] * slope[0]).matmul(frequencies_.t());
  }

 private:
  double scale_;
  torch::Tensor frequencies_;  // [pixels, frequencies]
};

std::int64_t dimension_of(const Generators& config) { return 2 * config.merf_frequencies; }

}  // namespace

std::int64_t embedding_votes(const Generators& config, const Client& client) {
  if (client.oracle.size() == 0) return 0;
  const VoteQuery query = class_means_query(client.model.num_classes(), dimension_of(config));
  return std::min<std::int64_t>(1, client.oracle.votes_left(query));
}

std::int64_t train_on_embedding(const Generators& config, Client& client, ImageGenerator& generator) {
  if (embedding_votes(config, client) == 0) return 0;
  const std::int64_t classes = client.model.num_classes(), dimension = dimension_of(config);
  const PixelScale scale(client);
  const FourierFeatures features(config, client, scale.pixels());
  const ClassMeans wanted = noisy_class_means(
      client, dimension, [&](const torch::Tensor& inputs) { return features(scale.to_pixels(inputs)); });
  const torch::TensorOptions& options = client.model.options();

  const torch::Tensor labels = labels_in_turn(client, std::max(config.merf_batch_size, classes));
  const torch::Tensor kind = at::one_hot(labels, classes).to(options);
  // Of class means: a row of them averages the batch's images of a class, which may be none.
  const torch::Tensor averages = (kind / kind.sum(0).clamp_min(1)).t();
  const torch::Tensor present = averages.sum(1, /*keepdim=*/true);
  Stream stream = stream_of(client.streams, Draw::kLatents);
  for (std::int64_t step = 0; step < config.merf_steps; ++step) {
    const torch::Tensor codes = generator.codes(labels, stream);
    const torch::Tensor pixels = generator.pixels(codes), own = features(pixels);
    const torch::Tensor apart = averages.matmul(own) - wanted.features;
    const torch::Tensor slopes = averages.t().matmul(2 * wanted.weights * present * apart);
    generator.descend(codes, pixels, features.back(own, slopes),
                      config.merf_rate * std::pow(0.9, static_cast<double>(5 * step / config.merf_steps)));
    client.compute.stop_if_interrupted();
  }
  return 1;
}

}  // namespace fedarena::generators
