#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {

inline constexpr Key<Params> kModel{"model"};
inline constexpr Key<Params> kUpdate{"update"};
inline constexpr Key<Params> kControl{"control"};
inline constexpr Key<std::int64_t> kExamples{"examples"};
inline constexpr Key<std::int64_t> kVisits{"visits"};

/// Local SGD whose clients and server remember something, with a second vector on the way up; tests replace
/// what they are about.
class ScriptedSgd final : public Algorithm {
 public:
  void start(Server& server) const override { server.state.put(kVisits, std::int64_t{0}); }
  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }
  Message train(Client& client, const Message& downlink) const override {
    ++trained;
    const Params& start = downlink[kModel];
    Params local = start;
    const std::int64_t count = steps_in ? steps_in(client.round) : steps;
    for (std::int64_t step = 0; step < count; ++step) {
      local.add_scaled(-0.05, client.oracle.gradient(local, {.batch_size = batch_size}));
    }
    if (on_train) on_train(client);
    client.state.put(kVisits, client.state.get_or(kVisits, std::int64_t{0}) + 1);
    return {{kUpdate, local - start}, {kControl, 0.5 * local}, {kExamples, client.oracle.size()}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.state.put(kVisits, server.state[kVisits] + uplink.size());
    if (on_aggregate) return on_aggregate(server, uplink);
    server.params += uplink.mean(kUpdate);
    server.state.put(kControl, uplink.mean(kControl));
  }

  std::int64_t steps = 4, batch_size = 5;
  std::function<std::int64_t(std::int64_t round)> steps_in;
  std::function<void(Client&)> on_train;
  std::function<void(Server&, const Uplink&)> on_aggregate;
  mutable std::atomic<int> trained = 0;
};

inline RecordPolicy records_hidden() {
  RecordPolicy policy;
  policy.noise_multiplier = 1.2;
  return policy;
}

inline ClientPolicy clients_hidden() {
  ClientPolicy policy;
  policy.clip_norm = 0.8;
  policy.noise_multiplier = 1.2;
  return policy;
}

inline ClientPolicy clients_hidden_adaptively() {
  ClientPolicy policy = clients_hidden();
  policy.adaptive_clipping = true;
  policy.count_noise = 5;
  return policy;
}

inline std::vector<PrivacyPolicy> private_policies() {
  RecordPolicy fixed_batches = records_hidden();
  fixed_batches.sampling = kFixedSize;
  ClientPolicy fixed_cohorts = clients_hidden();
  fixed_cohorts.sampling = kFixedSize;
  return {records_hidden(), fixed_batches, clients_hidden(), fixed_cohorts, clients_hidden_adaptively()};
}

/// Sixty examples on four clients, of whom two are (or are expected to be) in a cohort.
class PrivateRuns : public SmallRuns<ScriptedSgd> {
 protected:
  PrivateRuns() : SmallRuns({25, 10, 20, 5}) {}
  SimulationSetup setup(const PrivacyPolicy& policy) const { return setup_on(pool, 6, 2, policy); }
};

}  // namespace fedarena
