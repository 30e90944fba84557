#include "harness/oracle/metered_oracle.hpp"

#include <utility>

#include <fmt/ranges.h>

#include "harness/oracle/response_mechanism.hpp"

namespace fedarena {
namespace {

// Of a client's noise streams in a round; number 0 noises its gradients, or its message.
constexpr std::uint64_t kResponseStream = 1;

}  // namespace

MeteredOracle::MeteredOracle(const Setting& setting, torch::Tensor positions, const Streams& streams)
    : setting_(setting), positions_(std::move(positions)), held_(positions_), streams_(streams) {}

const std::vector<double>& MeteredOracle::canary_scores() const {
  static const std::vector<double> kNone;
  return kNone;
}

void MeteredOracle::check(const Query& query) const {
  FEDARENA_CHECK(query.batch_size, >=, 0);
  const auto& shape = setting_.model.architecture().input_shape;
  if (query.augmentation == nullptr || *query.augmentation == Augmentation() || shape.size() == 3) return;
  throw Error(Complaint{
      .found = fmt::format("the algorithm augments images, but the model's inputs are of shape [{}]",
                           fmt::join(shape, ", ")),
      .allowed = "[channels, height, width]",
      .remedy = "Set the algorithm's augmentation to \"none\", or choose images and a model for them."});
}

BatchSource MeteredOracle::source(const torch::Tensor& positions, const Query& query) const {
  return [this, positions, augmentation = query.augmentation](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Batch batch =
        setting_.reader.read(setting_.examples, positions.narrow(0, begin, end - begin), setting_.skew);
    if (augmentation != nullptr) batch.inputs = (*augmentation)(batch.inputs);
    return batch;
  };
}

std::int64_t MeteredOracle::steps_per_epoch(std::int64_t batch_size) const {
  if (batch_size == 0) return 1;
  return (size() + batch_size - 1) / batch_size;
}

double MeteredOracle::loss(const Params& at) {
  note(ExactAccess{"loss"});
  if (held_.size(0) == 0) return 0;
  const Score sums = setting_.engine.evaluate(at, held_.size(0), source(held_));
  return sums.loss_sum / static_cast<double>(sums.examples);
}

torch::Tensor MeteredOracle::label_counts() {
  note(label_count_access());
  if (setting_.classes == 0) throw Error::of("a regression has no label counts");
  return setting_.examples.targets.index_select(0, positions_).bincount({}, setting_.classes);
}

torch::Tensor MeteredOracle::held_classes() {
  note(class_access());
  if (setting_.classes == 0) throw Error::of("a regression has no classes");
  const torch::Tensor counts =
      setting_.examples.targets.index_select(0, positions_).bincount({}, setting_.classes);
  return counts.nonzero().flatten();
}

Batch MeteredOracle::exact_batch() {
  note(ExactAccess{"examples"});
  return setting_.reader.read(setting_.examples, held_, setting_.skew);
}

torch::Tensor MeteredOracle::randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                                 double epsilon) {
  if (setting_.classes == 0) throw Error::of("a regression has no labels that randomised response answers");
  const auto release = ResponseRelease::of_synthetic(setting_.classes, epsilon, accesses_);
  if (!responses_) responses_ = make_noise_source(setting_.noise_source, streams_, kResponseStream);
  return release.answers(labels, prior, *responses_);
}

}  // namespace fedarena
