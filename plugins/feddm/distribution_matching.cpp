#include <optional>
#include <utility>

#include <torch/autograd.h>

#include <fedarena/class_batches.hpp>
#include <fedarena/features.hpp>

#include "feddm.hpp"

namespace feddm {

using namespace fedarena;

namespace {

// Kept apart from the stream that images start from.
constexpr std::uint64_t kWeights = 1;
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;

// A model cut before its last affine map, at some weights.
class Embedding {
 public:
  Embedding(const Model& body, const Params& at)
      : body_(body), weights_(feature_weights(body, at)), head_(last_matrix(at)) {}

  // Of features.
  std::int64_t dimension() const { return head_.size(1); }
  torch::Tensor features(const torch::Tensor& images) const { return body_.forward(weights_, images); }

  // |d|^2 + |A d|^2: means of logits differ by A d where those of features differ by d, the bias falling out.
  torch::Tensor distance(const torch::Tensor& real, const torch::Tensor& own) const {
    const torch::Tensor difference = own - real;
    return difference.square().sum() + head_.mv(difference).square().sum();
  }

 private:
  static torch::Tensor last_matrix(const Params& at) { return at[at.size() - 2]; }

  const Model& body_;
  Params weights_;
  torch::Tensor head_;
};

// A standard normal step from the centre, cut to length rho where it is longer: in as many dimensions as a
// model has, no other step of the normal distribution truncated to the ball has a chance.
Params weights_near(const Params& centre, double rho, Stream& stream) {
  Params step(centre.layout(), normal(stream, {centre.flat().numel()}).to(centre.flat().options()));
  const double length = norm(step);
  if (length > rho) step *= rho / length;
  return step + centre;
}

struct Distance {
  double value = 0;
  torch::Tensor slope;  // in the images
};

Distance distance_between(const Embedding& embedding, const torch::Tensor& real, const Batch& images) {
  const torch::AutoGradMode enabled(true);
  const torch::Tensor leaf = images.inputs.detach().requires_grad_();
  const torch::Tensor distance = embedding.distance(real, embedding.features(leaf).mean(0));
  return {distance.item<double>(), torch::autograd::grad({distance}, {leaf})[0]};
}

// The mean features of classes under one draw of weights, from the sum of votes; a row in place of a class's
// examples, nothing for a class whose noisy count is below 1.
ClassExamples voted_means(const Config& config, Client& client, const Embedding& embedding) {
  const double bound = config.feature_bound;
  const ClassMeans means = noisy_class_means(client, embedding.dimension(), [&](const torch::Tensor& inputs) {
    const torch::NoGradGuard constant;
    const torch::Tensor own = embedding.features(inputs) / bound;
    return own / own.norm(2, {1}, /*keepdim=*/true).clamp_min(1);
  });
  return [features = means.features * bound, weights = means.weights](std::int64_t label) {
    const std::int64_t count = weights[label].item<double>() > 0 ? 1 : 0;
    return Batch{features.narrow(0, label, count), torch::full({count}, label, torch::kInt64)};
  };
}

}  // namespace

void match_distributions(const Config& config, Client& client, const Params& start, Batch& set) {
  const Model body = feature_model(client.model, "feddm");
  std::optional<ClassBatches> examples;
  if (!config.votes())
    examples.emplace(client, config.batch_size, client.streams(Purpose::kSynthetic, kRealBatches));
  const ClassExamples draw = [&](std::int64_t label) { return examples->draw(label); };
  Stream weights = client.streams(Purpose::kSynthetic, kWeights);
  Stream draws = client.streams(Purpose::kSynthetic, kAugmentations);
  fedarena::ImageDescent descent(config, set.inputs);
  for (std::int64_t iteration = 0; iteration < config.iterations; ++iteration) {
    client.compute.stop_if_interrupted();
    const Params at = weights_near(start, config.rho, weights);
    const Embedding embedding(body, at);
    const ClassExamples compared = config.votes() ? voted_means(config, client, embedding) : draw;
    descent.step(slope_by_class(config, set, compared, draws, [&](const Batch& real, const Batch& own) {
      const torch::Tensor features = config.votes() ? real.inputs : embedding.features(real.inputs).detach();
      Distance distance = distance_between(embedding, features.mean(0), own);
      client.observed.add("matching-loss", distance.value);
      return std::move(distance.slope);
    }));
  }
}

}  // namespace feddm
