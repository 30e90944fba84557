#include "harness/oracle/exact_oracle.hpp"

#include <algorithm>
#include <utility>

namespace fedarena {

ExactOracle::ExactOracle(const Setting& setting, torch::Tensor positions, const Streams& streams)
    : MeteredOracle(setting, std::move(positions), streams), shuffles_(streams(Purpose::kBatches)) {}

torch::Tensor ExactOracle::next_batch(std::int64_t batch_size) {
  if (batch_size == 0) return positions();
  if (!order_.defined() || used_ >= size()) {
    const auto* own = positions().data_ptr<std::int64_t>();
    std::vector<std::int64_t> order = shuffles_.permutation(size());
    for (std::int64_t& position : order) position = own[position];
    order_ = tensor_of(order);
    used_ = 0;
  }
  const std::int64_t count = std::min(batch_size, size() - used_);
  used_ += count;
  return order_.narrow(0, used_ - count, count);
}

Params ExactOracle::answer(const Params& at, const Query& query) {
  check(query);
  note(ExactAccess{"gradient"});
  if (size() == 0) return zeros_like(at);
  const torch::Tensor batch = next_batch(query.batch_size);
  count_gradient(batch, query);
  return setting().engine.mean_gradient(at, batch.size(0), source(batch, query));
}

}  // namespace fedarena
