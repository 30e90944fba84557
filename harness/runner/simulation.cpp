#include "harness/runner/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "harness/runner/checkpoint.hpp"
#include "harness/runner/cohort.hpp"

namespace fedarena {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Puts things back when a round does not complete.
class Rollback {
 public:
  Rollback(Params& params, Message& state)
      : params_(params), state_(state), old_params_(params), old_state_(state) {}
  ~Rollback() {
    if (committed_) return;
    params_ = std::move(old_params_);
    state_ = std::move(old_state_);
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  void commit() { committed_ = true; }

 private:
  Params& params_;
  Message& state_;
  Params old_params_;
  Message old_state_;
  bool committed_ = false;
};

}  // namespace

Simulation::Simulation(const SimulationSetup& setup)
    : setup_(setup),
      reader_(setup.dataset, setup.model.options()),
      engine_(setup.model, setup.pool),
      oracle_setting_{setup_.dataset.train,  reader_, setup_.model, engine_, setup_.stop,
                      setup_.dataset.classes} {
  Stream weights(
      {.seed = setup_.seed, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
  params_ = setup_.model.initial(weights);
  for (std::size_t client = 0; client < setup_.partition.size(); ++client) {
    ledger_.add_client(static_cast<std::int64_t>(client),
                       static_cast<std::int64_t>(setup_.partition[client].size()));
  }
  Server server = server_view(0);
  setup_.algorithm.start(server);
}

Server Simulation::server_view(std::int64_t round) {
  return {.round = round,
          .rounds = setup_.rounds,
          .population = static_cast<std::int64_t>(setup_.partition.size()),
          .params = params_,
          .state = server_state_,
          .model = setup_.model,
          .streams = Streams(setup_.seed, round, kServer)};
}

Simulation::LocalResult Simulation::train_client(std::int64_t client, std::int64_t round,
                                                 const Message& downlink) const {
  LocalResult result;
  if (const auto state = client_states_.find(client); state != client_states_.end())
    result.state = state->second;
  const std::vector<std::int64_t>& shard = setup_.partition[static_cast<std::size_t>(client)];
  const Streams streams(setup_.seed, round, client);
  ClientOracle oracle(oracle_setting_, torch::tensor(shard, torch::kInt64), streams);
  Client view{.id = client,
              .round = round,
              .rounds = setup_.rounds,
              .oracle = oracle,
              .state = result.state,
              .model = setup_.model,
              .streams = streams};
  const Bytes bytes = encode(setup_.algorithm.train(view, downlink));
  result.uplink = decode(bytes, setup_.model.layout(), setup_.model.options().device());
  result.uplink_bytes = static_cast<std::int64_t>(bytes.size());
  result.accesses = oracle.accesses();
  result.examples = oracle.gradient_examples();
  return result;
}

results::RoundRecord Simulation::next_round() {
  const auto start = Clock::now();
  const std::int64_t round = round_ + 1;
  const std::vector<std::int64_t> cohort = choose_cohort(
      setup_.seed, round, static_cast<std::int64_t>(setup_.partition.size()), setup_.cohort_size);
  Rollback rollback(params_, server_state_);
  Server server = server_view(round);

  const Bytes downlink_bytes = encode(setup_.algorithm.broadcast(server));
  const Message downlink = decode(downlink_bytes, setup_.model.layout(), setup_.model.options().device());
  std::vector<LocalResult> local(cohort.size());
  std::atomic<std::int64_t> done = 0;
  setup_.pool.for_each(cohort.size(), [&](std::size_t index) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    local[index] = train_client(cohort[index], round, downlink);
    if (setup_.on_client) setup_.on_client(++done, setup_.cohort_size);
  });

  results::RoundRecord record;
  record.round = round;
  record.clients = static_cast<std::int64_t>(cohort.size());
  record.downlink_bytes = static_cast<std::int64_t>(downlink_bytes.size() * cohort.size());
  std::vector<Message> uplinks;
  for (LocalResult& result : local) {
    record.uplink_bytes += result.uplink_bytes;
    record.examples += result.examples;
    uplinks.push_back(std::move(result.uplink));
  }
  setup_.algorithm.aggregate(server, CohortUplink(std::move(uplinks)));
  record.train_seconds = seconds_since(start);
  if (round % setup_.evaluate_every == 0 || round == setup_.rounds) {
    const auto evaluation_start = Clock::now();
    evaluate(record);
    record.evaluation_seconds = seconds_since(evaluation_start);
  }

  rollback.commit();
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    ledger_.record(round, cohort[index], local[index].accesses);
    if (!local[index].state.entries().empty()) client_states_[cohort[index]] = std::move(local[index].state);
  }
  round_ = round;
  return record;
}

void Simulation::evaluate(results::RoundRecord& record) const {
  const Examples& test = setup_.dataset.test;
  const Score sums = engine_.evaluate(params_, test.size(), [&](std::int64_t begin, std::int64_t end) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    return reader_.read(test, torch::arange(begin, end, torch::kInt64));
  });
  record.test_loss = sums.loss_sum / static_cast<double>(sums.examples);
  if (setup_.dataset.classes > 0) {
    record.test_accuracy = static_cast<double>(sums.correct) / static_cast<double>(sums.examples);
  }
}

Bytes Simulation::save() const {
  return pack_checkpoint({round_, params_, server_state_, client_states_, ledger_.to_json()});
}

void Simulation::restore(std::span<const std::byte> bytes) {
  Checkpoint checkpoint = unpack_checkpoint(bytes, setup_.model);
  if (checkpoint.round > setup_.rounds) {
    throw Error::of("the checkpoint is of round {}, this run has {} rounds", checkpoint.round, setup_.rounds);
  }
  Ledger ledger = Ledger::from_json(checkpoint.ledger);
  const auto shard = [](const auto& entry) { return std::pair(entry.first, entry.second.examples); };
  if (!std::ranges::equal(ledger.clients(), ledger_.clients(), {}, shard, shard)) {
    throw Error::of("the checkpoint is of another partition: its clients hold other numbers of examples");
  }
  round_ = checkpoint.round;
  params_ = std::move(checkpoint.params);
  server_state_ = std::move(checkpoint.server_state);
  client_states_ = std::move(checkpoint.client_states);
  ledger_ = std::move(ledger);
}

}  // namespace fedarena
