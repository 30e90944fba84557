#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/oracle/random_source.hpp"
#include "harness/simulation/simulation.hpp"
#include "tests/message_of.hpp"

namespace fedarena {

inline constexpr Key<Params> kModel{"model"};

/// Passes the model on; tests add what they are about.
class Scripted final : public Algorithm {
 public:
  void start(Server& server) const override {
    if (on_start) on_start(server);
  }
  Message broadcast(const Server& server) const override {
    if (on_broadcast) on_broadcast(server);
    return {{kModel, server.params}};
  }
  Message train(Client& client, const Message& downlink) const override {
    Params model = downlink[kModel];
    if (on_train) on_train(client, model);
    return {{kModel, model}};
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.params = uplink.mean(kModel);
    if (on_aggregate) on_aggregate(server);
  }

  std::function<void(const Server&)> on_broadcast;
  std::function<void(Client&, Params&)> on_train;
  std::function<void(Server&)> on_start, on_aggregate;
};

/// A linear model of three inputs and two classes on random examples, dealt in order to clients of these
/// sizes; the tests' algorithm has a public default constructor.
template <typename TestAlgorithm = Scripted>
class SmallRuns : public ::testing::Test {
 protected:
  explicit SmallRuns(const std::vector<std::int64_t>& shard_sizes) {
    use_one_torch_thread();
    for (const std::int64_t size : shard_sizes) {
      std::vector<std::int64_t>& shard = partition.emplace_back(static_cast<std::size_t>(size));
      std::iota(shard.begin(), shard.end(), examples_);
      examples_ += size;
    }
    Stream stream({.seed = 1});
    dataset.train = {normal(stream, {examples_, 3}), torch::arange(examples_).remainder(2)};
    dataset.test = {normal(stream, {7, 3}), torch::arange(7).remainder(2)};
    dataset.classes = 2;
  }

  SimulationSetup setup_on(const WorkPool& workers, std::int64_t rounds, std::int64_t cohort_size,
                           const PrivacyPolicy& policy = NoPolicy{}) const {
    return {.dataset = dataset,
            .partition = partition,
            .model = model,
            .algorithm = algorithm,
            .pool = workers,
            .stop = stop,
            .seed = 4,
            .rounds = rounds,
            .cohort_size = cohort_size,
            .policy = policy};
  }

  Dataset dataset;
  Partition partition;
  Model model{{.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}}, torch::kFloat64};
  TestAlgorithm algorithm;
  WorkPool pool{2, use_one_torch_thread};
  std::atomic<bool> stop = false;

 private:
  std::int64_t examples_ = 0;
};

inline constexpr Key<Params> kUpdate{"update"};
inline constexpr Key<Params> kControl{"control"};
inline constexpr Key<std::int64_t> kExamples{"examples"};
inline constexpr Key<std::int64_t> kVisits{"visits"};

/// Local SGD whose clients and server remember something, with a second vector on the way up; tests replace
/// what they are about.
class ScriptedSgd final : public Algorithm {
 public:
  void start(Server& server) const override {
    ++starts;
    EXPECT_EQ(server.round, 0);
    server.state.put(kVisits, std::int64_t{0});
  }
  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }
  Message train(Client& client, const Message& downlink) const override {
    ++trained;
    const Params& start = downlink[kModel];
    if (on_downlink) on_downlink(downlink);
    Params local = start;
    const std::int64_t count = steps_in ? steps_in(client.round) : steps;
    for (std::int64_t step = 0; step < count; ++step) {
      local.add_scaled(-0.05, client.oracle.gradient(local, {.batch_size = batch_size}));
    }
    if (on_train) {
      const std::lock_guard one_at_a_time(mutex_);
      on_train(client);
    }
    client.state.put(kVisits, client.state.get_or(kVisits, std::int64_t{0}) + 1);
    Message uplink{{kUpdate, local - start}, {kControl, 0.5 * local}, {kExamples, client.oracle.size()}};
    if (on_send) on_send(client, uplink);
    return uplink;
  }
  std::vector<UplinkEntry> uplink_entries(std::int64_t round) const override {
    if (entries) return entries(round);
    return {kUpdate, kControl, kExamples};
  }
  std::vector<Params> centres(const Message& downlink) const override {
    return on_centres ? on_centres(downlink) : std::vector<Params>();
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    server.state.put(kVisits, server.state[kVisits] + uplink.size());
    if (on_aggregate) return on_aggregate(server, uplink);
    server.params += uplink.mean(kUpdate);
    server.state.put(kControl, uplink.mean(kControl));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return plan ? plan(client) : std::nullopt;
  }
  bool personalises() const override { return static_cast<bool>(on_personalise); }
  Params personalise(Client& client, const Message& downlink) const override {
    const std::lock_guard one_at_a_time(mutex_);
    return on_personalise(client, downlink);
  }

  std::int64_t steps = 4, batch_size = 5;
  std::function<std::optional<AccessPlan>(const Client&)> plan;
  std::function<std::int64_t(std::int64_t round)> steps_in;
  std::function<std::vector<UplinkEntry>(std::int64_t round)> entries;
  std::function<std::vector<Params>(const Message& downlink)> on_centres;
  std::function<void(const Message&)> on_downlink;
  std::function<void(Client&)> on_train;  // not of two clients at once
  std::function<void(Client&, Message& uplink)> on_send;
  std::function<void(Server&, const Uplink&)> on_aggregate;
  std::function<Params(Client&, const Message&)> on_personalise;  // the same
  mutable std::atomic<int> starts = 0, trained = 0;

 private:
  mutable std::mutex mutex_;
};

inline RecordPolicy records_hidden(const std::string& noise_source = kStreamNoise) {
  RecordPolicy policy;
  policy.noise_multiplier = 1.2;
  policy.noise_source = noise_source;
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

inline LocalPolicy messages_hidden() {
  LocalPolicy policy;
  policy.clip_norm = 0.8;
  policy.noise_multiplier = 1.2;
  return policy;
}

inline std::vector<PrivacyPolicy> private_policies() {
  RecordPolicy fixed_batches = records_hidden();
  fixed_batches.sampling = kWithoutReplacement;
  ClientPolicy fixed_cohorts = clients_hidden();
  fixed_cohorts.sampling = kWithoutReplacement;
  return {records_hidden(), fixed_batches, clients_hidden(), fixed_cohorts, clients_hidden_adaptively(),
          messages_hidden()};
}

/// Two stages where there are rounds for the first.
inline LabelPolicy labels_hidden(std::int64_t first_rounds = 0,
                                 const std::string& noise_source = kStreamNoise) {
  LabelPolicy policy;
  policy.epsilon = 1.2;
  policy.stages = first_rounds > 0 ? 2 : 1;
  policy.first_rounds = first_rounds;
  policy.noise_source = noise_source;
  return policy;
}

/// The epsilon of a ledger, or of accesses.
template <typename Spent>
std::optional<double> odometer_reading(const Spent& spent) {
  return Odometer(AccountSettings()).epsilon(spent).epsilon;
}

/// A simulation that has done so many rounds.
struct BegunRun : Simulation {
  BegunRun(const SimulationSetup& setup, std::int64_t rounds) : Simulation(setup) {
    while (rounds_done() < rounds) next_round();
  }
};

/// One that has done all of them.
struct FinishedRun : BegunRun {
  explicit FinishedRun(const SimulationSetup& setup) : BegunRun(setup, setup.rounds) {}
};

/// One that goes on from where another is.
struct ResumedRun : Simulation {
  ResumedRun(const SimulationSetup& setup, Simulation& other) : Simulation(setup) { restore(other.save()); }
};

/// The message that the next round is refused with. It leaves no trace.
inline std::string refused_round(Simulation& simulation) {
  const Bytes before = simulation.save();
  std::string message = test::message_of([&] { simulation.next_round(); });
  EXPECT_EQ(simulation.save(), before);
  return message;
}

/// Has the client take so many gradients at zero, of batches of that size; 0: of its whole shard.
inline void take_gradients(Client& client, std::int64_t batch_size, std::int64_t count) {
  const Params at = Params::zeros(client.model.layout(), client.model.options());
  for (std::int64_t i = 0; i < count; ++i) (void)client.oracle.gradient(at, {.batch_size = batch_size});
}

/// Sixty examples on four clients, of whom two are (or are expected to be) in a cohort.
class PrivateRuns : public SmallRuns<ScriptedSgd> {
 protected:
  PrivateRuns() : SmallRuns({25, 10, 20, 5}) {}
  SimulationSetup setup(const PrivacyPolicy& policy) const { return setup_on(pool, 6, 2, policy); }
};

}  // namespace fedarena
