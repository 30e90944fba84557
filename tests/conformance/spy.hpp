#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/algorithm.hpp"

#include "harness/wire/wire.hpp"

namespace fedarena {

/// What passed between harness and algorithm, noted independently of the harness's own books.
struct Traffic {
  struct ClientRound {
    std::vector<std::string> accesses;  ///< one a call of the oracle
    std::int64_t uplink_bytes = 0;
  };
  std::map<std::int64_t, std::int64_t> downlink_bytes;                         ///< by round, to one client
  std::map<std::pair<std::int64_t, std::int64_t>, ClientRound> client_rounds;  ///< by (round, client)
};

/// Notes each call and passes it on.
class CountingOracle final : public Oracle {
 public:
  CountingOracle(Oracle& inner, std::vector<std::string>& calls) : inner_(inner), calls_(calls) {}
  Params gradient(const Params& at, const Query& query) override {
    calls_.emplace_back("gradient");
    return inner_.gradient(at, query);
  }
  std::int64_t steps_per_epoch(std::int64_t batch_size) const override {
    return inner_.steps_per_epoch(batch_size);
  }
  double loss(const Params& at) override {
    calls_.emplace_back("loss");
    return inner_.loss(at);
  }
  torch::Tensor label_counts() override {
    calls_.emplace_back("label counts");
    return inner_.label_counts();
  }
  torch::Tensor held_classes() override {
    calls_.emplace_back("classes");
    return inner_.held_classes();
  }
  Batch exact_batch() override {
    calls_.emplace_back("examples");
    return inner_.exact_batch();
  }
  std::int64_t size() const override { return inner_.size(); }

 private:
  Oracle& inner_;
  std::vector<std::string>& calls_;
};

/// An algorithm that is another one, observed.
class Spy final : public Algorithm {
 public:
  Spy(std::unique_ptr<const Algorithm> inner, Traffic& traffic)
      : inner_(std::move(inner)), traffic_(traffic) {}

  void start(Server& server) const override { inner_->start(server); }
  Message broadcast(const Server& server) const override {
    Message message = inner_->broadcast(server);
    traffic_.downlink_bytes[server.round] = static_cast<std::int64_t>(encode(message).size());
    return message;
  }
  Message train(Client& client, const Message& downlink) const override {
    Traffic::ClientRound seen;
    CountingOracle oracle(client.oracle, seen.accesses);
    Client observed{.id = client.id,
                    .round = client.round,
                    .rounds = client.rounds,
                    .oracle = oracle,
                    .state = client.state,
                    .model = client.model,
                    .compute = client.compute,
                    .streams = client.streams,
                    .observed = client.observed};
    Message message = inner_->train(observed, downlink);
    seen.uplink_bytes = static_cast<std::int64_t>(encode(message).size());
    const std::lock_guard lock(mutex_);
    traffic_.client_rounds[{client.round, client.id}] = std::move(seen);
    return message;
  }
  void aggregate(Server& server, const Uplink& uplink) const override { inner_->aggregate(server, uplink); }

 private:
  std::unique_ptr<const Algorithm> inner_;
  Traffic& traffic_;
  mutable std::mutex mutex_;
};

}  // namespace fedarena
