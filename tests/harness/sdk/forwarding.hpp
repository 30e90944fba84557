#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// Passes every call on, so that others override only what they look at. `inner` must outlive it.
class ForwardingOracle : public Oracle {
 public:
  explicit ForwardingOracle(Oracle& inner) : inner_(inner) {}

  Params gradient(const Params& at, const Query& query) override { return inner_.gradient(at, query); }
  std::int64_t steps_per_epoch(std::int64_t batch_size) const override {
    return inner_.steps_per_epoch(batch_size);
  }
  double loss(const Params& at) override { return inner_.loss(at); }
  torch::Tensor label_counts() override { return inner_.label_counts(); }
  torch::Tensor held_classes() override { return inner_.held_classes(); }
  Batch exact_batch() override { return inner_.exact_batch(); }
  torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                    double epsilon) override {
    return inner_.randomised_response(labels, prior, epsilon);
  }
  torch::Tensor noisy_sum(const Vote& vote, const VoteQuery& query) override {
    return inner_.noisy_sum(vote, query);
  }
  std::int64_t votes_left(const VoteQuery& query) const override { return inner_.votes_left(query); }
  std::int64_t gradients_left(std::int64_t size) const override { return inner_.gradients_left(size); }
  std::int64_t size() const override { return inner_.size(); }

 protected:
  Oracle& inner() { return inner_; }

 private:
  Oracle& inner_;
};

/// An algorithm with steps of others in the place of its own, where they are given.
class Replaced : public Algorithm {
 public:
  explicit Replaced(std::unique_ptr<const Algorithm> inner) : inner_(std::move(inner)) {}

  void start(Server& server) const override { inner_->start(server); }
  Message broadcast(const Server& server) const override { return inner_->broadcast(server); }
  Message train(Client& client, const Message& downlink) const override {
    return train_with ? train_with(client, downlink) : inner_->train(client, downlink);
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    aggregate_with ? aggregate_with(server, uplink) : inner_->aggregate(server, uplink);
  }
  const Algorithm& inner() const { return *inner_; }

  std::function<Message(Client&, const Message&)> train_with;
  std::function<void(Server&, const Uplink&)> aggregate_with;

 private:
  std::unique_ptr<const Algorithm> inner_;
};

/// The client, reaching its examples and its derivatives through others.
inline Client observed(Client& client, Oracle& oracle, const Compute& compute) {
  return {.id = client.id,
          .round = client.round,
          .rounds = client.rounds,
          .oracle = oracle,
          .state = client.state,
          .model = client.model,
          .compute = compute,
          .streams = client.streams,
          .observed = client.observed,
          .budget = client.budget,
          .pixel_range = client.pixel_range,
          .participations = client.participations};
}

}  // namespace fedarena
