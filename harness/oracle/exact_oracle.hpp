#pragma once

#include "harness/oracle/metered_oracle.hpp"

namespace fedarena {

/// Exact gradients: for the policy "none", and for "client", where what leaves the client is privatised
/// instead; for "label", whose oracles hold randomised labels, they are exact about these. The shard is
/// shuffled once an epoch and dealt in batches, the last of which may be short. An empty shard has zero
/// gradients.
class ExactOracle final : public MeteredOracle {
 public:
  ExactOracle(const Setting& setting, torch::Tensor positions, const Streams& streams);

 private:
  Params answer(const Params& at, const Query& query) override;
  torch::Tensor next_batch(std::int64_t batch_size);

  Stream shuffles_;
  torch::Tensor order_;  // the shard in this epoch's order; undefined before the first
  std::int64_t used_ = 0;
};

}  // namespace fedarena
