#include "harness/oracle/client_oracle.hpp"

#include <algorithm>
#include <utility>

namespace fedarena {

ExampleReader::ExampleReader(const Dataset& dataset, torch::TensorOptions options)
    : options_(std::move(options)) {
  if (dataset.mean.empty()) return;
  const torch::Tensor mean = torch::tensor(dataset.mean, torch::kFloat64);
  const torch::Tensor deviation = torch::tensor(dataset.deviation, torch::kFloat64);
  // ((x / 255) - mean) / deviation as one scale and one shift.
  scale_ = (1 / (255 * deviation)).view({1, -1, 1, 1}).to(options_);
  shift_ = (-mean / deviation).view({1, -1, 1, 1}).to(options_);
}

Batch ExampleReader::read(const Examples& examples, const torch::Tensor& positions) const {
  torch::Tensor inputs = examples.inputs.index_select(0, positions).to(options_);
  if (scale_.defined()) inputs = inputs.mul_(scale_).add_(shift_);
  torch::Tensor targets = examples.targets.index_select(0, positions);
  targets = targets.is_floating_point() ? targets.to(options_) : targets.to(options_.device());
  return {std::move(inputs), std::move(targets)};
}

ClientOracle::ClientOracle(const Setting& setting, torch::Tensor positions, const Streams& streams)
    : setting_(setting), positions_(std::move(positions)), shuffles_(streams(Purpose::kBatches)) {}

BatchSource ClientOracle::source(const torch::Tensor& positions) const {
  return [this, positions](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return setting_.reader.read(setting_.examples, positions.narrow(0, begin, end - begin));
  };
}

torch::Tensor ClientOracle::next_batch(std::int64_t batch_size) {
  if (batch_size == 0) return positions_;
  if (!order_.defined() || used_ >= size()) {
    const std::vector<std::int64_t> permutation = shuffles_.permutation(size());
    order_ = positions_.index_select(0, torch::tensor(permutation, torch::kInt64));
    used_ = 0;
  }
  const std::int64_t count = std::min(batch_size, size() - used_);
  used_ += count;
  return order_.narrow(0, used_ - count, count);
}

Params ClientOracle::gradient(const Params& at, const Query& query) {
  accesses_.add(ExactAccess{"gradient"});
  if (size() == 0) return zeros_like(at);
  const torch::Tensor batch = next_batch(query.batch_size);
  gradient_examples_ += batch.size(0);
  return setting_.engine.mean_gradient(at, batch.size(0), source(batch));
}

std::int64_t ClientOracle::steps_per_epoch(std::int64_t batch_size) const {
  if (batch_size == 0) return 1;
  return (size() + batch_size - 1) / batch_size;
}

double ClientOracle::loss(const Params& at) {
  accesses_.add(ExactAccess{"loss"});
  if (size() == 0) return 0;
  const Score sums = setting_.engine.evaluate(at, size(), source(positions_));
  return sums.loss_sum / static_cast<double>(sums.examples);
}

torch::Tensor ClientOracle::label_counts() {
  accesses_.add(ExactAccess{"label counts"});
  if (setting_.classes == 0) throw Error::of("a regression has no label counts");
  return setting_.examples.targets.index_select(0, positions_).bincount({}, setting_.classes);
}

Batch ClientOracle::exact_batch() {
  accesses_.add(ExactAccess{"examples"});
  return setting_.reader.read(setting_.examples, positions_);
}

}  // namespace fedarena
