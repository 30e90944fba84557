#include "harness/attack/frechet_distance.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "fedarena/adam.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/features.hpp"
#include "fedarena/random.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/zoo.hpp"
#include "harness/oracle/example_reader.hpp"

namespace fedarena {
namespace {

constexpr const char* kNetwork = "niid-cnn";
constexpr std::int64_t kExamples = 10'000, kEpochs = 3, kBatch = 64;
constexpr double kRate = 1e-3;
constexpr std::int64_t kMicroBatchesAtOnce = 64;

// Of this file's own draws; they are the same for every run.
enum Draw : std::uint64_t { kWeights, kOrder, kNoisePixels };

Stream draws(Draw draw) {
  return Stream({.seed = 0, .round = 0, .client = kServer, .purpose = Purpose::kAttack, .index = draw});
}

struct Moments {
  torch::Tensor mean, covariance;
};

Moments moments_of(const torch::Tensor& rows) {
  FEDARENA_CHECK(rows.size(0), >=, 2);
  const torch::Tensor values = rows.to(torch::kFloat64);
  const torch::Tensor mean = values.mean(0), centred = values - mean;
  return {mean, centred.t().mm(centred) / static_cast<double>(rows.size(0) - 1)};
}

// Of a symmetric matrix without negative eigenvalues but for rounding.
torch::Tensor root_of(const torch::Tensor& matrix) {
  const auto [values, vectors] = torch::linalg_eigh(matrix);
  return (vectors * values.clamp_min(0).sqrt()).mm(vectors.t());
}

Architecture network_for(const Dataset& dataset) {
  if (dataset.classes == 0 || dataset.train.inputs.dim() != 4) {
    throw Error(Complaint{.found = "the run's data are not images with classes",
                          .remedy = "distances between sets of images need both"});
  }
  const ModelInput input{.shape = dataset.train.inputs.sizes().slice(1).vec(), .outputs = dataset.classes};
  return build_model(kNetwork, {}, input);
}

}  // namespace

double frechet_distance(const torch::Tensor& left, const torch::Tensor& right) {
  const Moments a = moments_of(left), b = moments_of(right);
  const torch::Tensor root = root_of(a.covariance);
  const torch::Tensor joint = root_of(root.mm(b.covariance).mm(root));
  const torch::Tensor distance =
      (a.mean - b.mean).square().sum() + (a.covariance + b.covariance - 2 * joint).trace();
  return std::max(0.0, distance.item<double>());
}

ImageFeatures::ImageFeatures(const Dataset& dataset, const Setting& setting)
    : dataset_(dataset), setting_(setting), model_(network_for(dataset), torch::kFloat32) {
  const ExampleReader reader(dataset, model_.options());
  const GradientEngine engine(model_, setting.pool);
  Stream weights = draws(kWeights), order = draws(kOrder);
  params_ = model_.initial(weights);
  const std::int64_t examples = std::min(kExamples, dataset.train.size());
  const std::vector<std::int64_t> chosen = order.sample_without_replacement(dataset.train.size(), examples);
  const torch::Tensor positions = torch::tensor(chosen, torch::kInt64);
  Adam adam;
  for (std::int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    if (setting.tell) setting.tell(fmt::format("the network of the features, epoch {}/{}", epoch, kEpochs));
    const torch::Tensor shuffled =
        positions.index_select(0, torch::tensor(order.permutation(examples), torch::kInt64));
    for (const torch::Tensor& batch : shuffled.split(kBatch)) {
      if (setting.stop.load(std::memory_order_relaxed)) throw Interrupted();
      const auto read = [&](std::int64_t begin, std::int64_t end) {
        return reader.read(dataset.train, batch.narrow(0, begin, end - begin));
      };
      adam.step(params_, engine.mean_gradient(params_, batch.size(0), read), kRate);
    }
  }
  const auto test = [&](std::int64_t begin, std::int64_t end) {
    if (setting.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return reader.read(dataset.test, torch::arange(begin, end));
  };
  const Score score = engine.evaluate(params_, dataset.test.size(), test);
  description_ = fmt::format(
      "{} features of {}, trained for {} epochs on {} training examples ({:.1f} % of the test examples "
      "right)",
      feature_model(model_, "fid").architecture().outputs, kNetwork, kEpochs, examples,
      100 * static_cast<double>(score.correct) / static_cast<double>(score.examples));
}

torch::Tensor ImageFeatures::features(const torch::Tensor& inputs) const {
  const Model cut = feature_model(model_, "fid");
  const Params weights = feature_weights(cut, params_);
  const GradientEngine engine(cut, setting_.pool);
  // In pieces, for one of which Ctrl-C waits.
  const std::int64_t piece = kMicroBatchesAtOnce * engine.micro_batch();
  std::vector<torch::Tensor> rows;
  for (const torch::Tensor& part : inputs.split(piece)) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    rows.push_back(engine.outputs(weights, part));
  }
  return torch::cat(rows);
}

torch::Tensor ImageFeatures::of_images(const torch::Tensor& images) const {
  torch::Tensor inputs = images.clamp(0, 1).to(model_.options());
  const torch::Tensor range = ExampleReader(dataset_, model_.options()).pixel_range();
  if (range.defined()) {
    const torch::Tensor black = range[0].view({1, -1, 1, 1}), white = range[1].view({1, -1, 1, 1});
    inputs = black + inputs * (white - black);
  }
  return features(inputs);
}

torch::Tensor ImageFeatures::of_some(const Examples& examples, std::int64_t count) const {
  Stream order = draws(kOrder);
  const auto chosen = order.sample_without_replacement(examples.size(), std::min(count, examples.size()));
  const ExampleReader reader(dataset_, model_.options());
  return features(reader.read(examples, torch::tensor(chosen, torch::kInt64)).inputs);
}

torch::Tensor ImageFeatures::of_noise(std::int64_t count) const {
  std::vector<std::int64_t> shape = dataset_.train.inputs.sizes().vec();
  shape.front() = count;
  Stream pixels = draws(kNoisePixels);
  return of_images(uniform(pixels, shape, 0, 1));
}

}  // namespace fedarena
