#include "harness/oracle/metered_oracle.hpp"

#include <utility>

namespace fedarena {

MeteredOracle::MeteredOracle(const Setting& setting, torch::Tensor positions)
    : setting_(setting), positions_(std::move(positions)) {}

BatchSource MeteredOracle::source(const torch::Tensor& positions) const {
  return [this, positions](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return setting_.reader.read(setting_.examples, positions.narrow(0, begin, end - begin));
  };
}

std::int64_t MeteredOracle::steps_per_epoch(std::int64_t batch_size) const {
  if (batch_size == 0) return 1;
  return (size() + batch_size - 1) / batch_size;
}

double MeteredOracle::loss(const Params& at) {
  accesses_.add(ExactAccess{"loss"});
  if (size() == 0) return 0;
  const Score sums = setting_.engine.evaluate(at, size(), source(positions_));
  return sums.loss_sum / static_cast<double>(sums.examples);
}

torch::Tensor MeteredOracle::label_counts() {
  accesses_.add(ExactAccess{"label counts"});
  if (setting_.classes == 0) throw Error::of("a regression has no label counts");
  return setting_.examples.targets.index_select(0, positions_).bincount({}, setting_.classes);
}

Batch MeteredOracle::exact_batch() {
  accesses_.add(ExactAccess{"examples"});
  return setting_.reader.read(setting_.examples, positions_);
}

}  // namespace fedarena
