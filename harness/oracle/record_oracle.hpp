#pragma once

#include <memory>

#include "harness/oracle/canaries.hpp"
#include "harness/oracle/metered_oracle.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/random_source.hpp"

namespace fedarena {

/// Record-level differential privacy (DP-SGD: Abadi et al., CCS 2016, Algorithm 1): each access draws a fresh
/// sample of the shard, clips every example's gradient, adds noise once to the sum and divides by the
/// expected batch size. A sample may be empty; the answer is then noise alone. Exact accesses stay possible
/// and are written down: they make this client's epsilon infinite. Canaries enter samples as examples do.
class RecordOracle final : public MeteredOracle {
 public:
  RecordOracle(const Setting& setting, torch::Tensor positions, const Streams& streams,
               const RecordPolicy& policy, ClientCanaries canaries = {});

  std::int64_t votes_left(const VoteQuery& query) const override {
    check_votes(query);
    return left(event_of(query));
  }
  std::int64_t gradients_left(std::int64_t batch_size) const override {
    check_batch_size(batch_size);
    return left(event_of(batch_size));
  }
  std::vector<Access> noised(const AccessPlan& plan) const override;
  std::vector<double> canary_scores() const override { return canaries_.scores(); }

 protected:
  Params answer(const Params& at, const Query& query) override;
  Event class_access() const override;
  Event label_count_access() const override;
  bool leaves_out(std::int64_t position) const override { return canaries_.leaves_out(position); }
  void release(const torch::Tensor& votes, const VoteQuery& query) override;

 private:
  struct Sample {
    torch::Tensor positions;
    double rate = 1;           // of each example, or of the shard
    double expected_size = 1;  // public, unlike the size
  };
  Sample draw(std::int64_t batch_size);
  // The share of the shard that a batch of this size samples.
  double rate_of(std::int64_t batch_size) const;
  Gaussian event_of(const VoteQuery& query) const;
  SampledGaussian event_of(std::int64_t batch_size) const;
  // How many more of these the budget pays for.
  std::int64_t left(const Event& event) const;

  RecordPolicy policy_;
  ClientCanaries canaries_;
  std::unique_ptr<RandomSource> samples_;
  std::unique_ptr<RandomSource> noise_;
};

}  // namespace fedarena
