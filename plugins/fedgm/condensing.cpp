#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fedarena/features.hpp>
#include <fedarena/k_means.hpp>

#include "fedgm.hpp"

namespace fedgm {

using namespace fedarena;

namespace {

// Kept apart from the streams of `condense` and from the one that images start from.
constexpr std::uint64_t kRealBatches = 2;
constexpr std::uint64_t kAugmentations = 3;
constexpr std::uint64_t kClusters = 6;

// On MNIST's pixels, further steps lower the mean squared distance to the centres by 2 %.
constexpr int kLloydSteps = 5;
// k-means++ chooses among so many random examples for each cluster.
constexpr std::int64_t kStartsPerCluster = 8;

// Of each class the examples nearest to the centres of its clusters; all of a class that has no more.
class Representatives {
 public:
  Representatives(Client& client, std::int64_t count)
      : features_(feature_model(client.model, "fedgm")),
        compute_(client.compute.on(features_)),
        count_(count),
        draws_(client.streams(Purpose::kSynthetic, kClusters)) {
    ClassBatches all(client, 0, client.streams(Purpose::kSynthetic, kRealBatches));
    for (std::int64_t label = 0; label < client.model.num_classes(); ++label)
      classes_.push_back(all.draw(label));
    chosen_ = classes_;
  }

  // Anew, by the features of this model.
  void choose(const Params& model) {
    const Params weights = feature_weights(features_, model);
    for (std::size_t label = 0; label < classes_.size(); ++label) {
      const Batch& all = classes_[label];
      if (count_ == 0 || all.size() <= count_) continue;
      const torch::Tensor points = compute_->outputs(weights, all.inputs);
      chosen_[label] = all.select(nearest_points(points, lloyd(points, start(points), kLloydSteps).centres));
    }
  }

  Batch of(std::int64_t label) const { return chosen_[static_cast<std::size_t>(label)]; }

 private:
  torch::Tensor start(const torch::Tensor& points) {
    const std::int64_t most = std::min(points.size(0), kStartsPerCluster * count_);
    const auto drawn = torch::tensor(draws_.sample_without_replacement(points.size(0), most), torch::kInt64);
    const torch::Tensor some = points.index_select(0, drawn.to(points.device()));
    return some.index_select(0, spread_points(some, count_, draws_));
  }

  Model features_;
  std::unique_ptr<const Compute> compute_;
  std::int64_t count_;
  Stream draws_;
  std::vector<Batch> classes_, chosen_;
};

// What the client observed of the distance between two calls, under the name of a tenth of the way.
class Tenths {
 public:
  Tenths(Observations& observed, std::int64_t steps) : observed_(observed), steps_(steps) {}

  void step_done() {
    const auto found = observed_.values().find("matching-loss");
    const Observations::Values now =
        found == observed_.values().end() ? Observations::Values() : found->second;
    if (now.count > seen_.count) {
      observed_.add("matching-loss-" + std::to_string(10 * done_ / steps_ + 1),
                    {now.sum - seen_.sum, now.count - seen_.count});
    }
    seen_ = now;
    ++done_;
  }

 private:
  Observations& observed_;
  std::int64_t steps_, done_ = 0;
  Observations::Values seen_;
};

}  // namespace

Batch condensed_set(const Config& config, Client& client) {
  Batch set = initial_set(config, client);
  if (set.size() == 0) return set;
  ClassExamples examples;
  std::shared_ptr<Representatives> representatives;
  if (config.real_images == "representative") {
    representatives = std::make_shared<Representatives>(client, config.batch_size);
    examples = [representatives](std::int64_t label) { return representatives->of(label); };
  } else {
    const Stream draws = client.streams(Purpose::kSynthetic, kRealBatches);
    examples = [random = std::make_shared<ClassBatches>(client, config.batch_size, draws)](
                   std::int64_t label) { return random->draw(label); };
  }
  Stream augmentations = client.streams(Purpose::kSynthetic, kAugmentations);
  ImageDescent descent(config, set.inputs);
  Tenths tenths(client.observed, config.initialisations * config.outer_steps);
  std::int64_t point = 0;
  condense(config, config.augmentation, client, set, [&](const Params& model) {
    if (representatives && point % config.outer_steps % config.cluster_every == 0)
      representatives->choose(model);
    ++point;
    // Classes share no image, so one step along all slopes is a step for each class.
    descent.step(
        slope_by_class(config, set, examples, augmentations, [&](const Batch& real, const Batch& own) {
          return matching_slope(config, client, model, own, client.compute.gradient(model, real));
        }));
    tenths.step_done();
    return true;
  });
  return set;
}

}  // namespace fedgm
