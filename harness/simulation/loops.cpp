// The loops of a round that can be shared with other ranks: over the clients of a cohort, and over what is
// tested. Rank 0 sends what a client's work depends on; its bytes, its accesses and its numbers come back.
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/gradients/cuda/lane.hpp"
#include "harness/oracle/exact_oracle.hpp"
#include "harness/simulation/round_notes.hpp"
#include "harness/simulation/simulation.hpp"
#include "harness/wire/parts.hpp"

namespace fedarena {
namespace {

enum JobKind : std::uint64_t { kTraining, kTest };

constexpr Key<Params> kTestedParams{"params"};
constexpr Key<torch::Tensor> kLabels{"labels"};
// A personal model takes some passes over its client's examples; how many, only the algorithm knows.
constexpr double kPassesOfPersonalModels = 10;

void put_state(Bytes& bytes, const ClientStates::State& state) {
  put(bytes, state != nullptr);
  if (state) put(bytes, *state);
}

ClientStates::State state_from(Parts& parts) {
  return parts.next<bool>() ? std::make_shared<const Bytes>(parts.next<Bytes>()) : nullptr;
}

// As a ledger writes them, of one client and one round.
void put_accesses(Bytes& bytes, const RoundAccesses& accesses) {
  const bool any = !accesses.list().empty() || accesses.unmade();
  put(bytes, any);
  if (!any) return;
  Ledger ledger;
  ledger.add_client(0, 1);
  ledger.record(1, 0, accesses);
  put(bytes, ledger.to_json());
}

RoundAccesses accesses_from(Parts& parts) {
  if (!parts.next<bool>()) return {};
  const Ledger ledger = Ledger::from_json(parts.next<std::string>());
  return ledger.clients().at(0).segments.front().round();
}

// Packs a score, or takes it off again.
void for_fields(auto& score, auto&& each) {
  auto& [examples, predicted, correct] = score.by_class;
  each(score.loss_sum, score.correct, score.examples, examples, predicted, correct);
}

}  // namespace

void Simulation::run_loop(const SharedLoop& loop) const {
  if (setup_.crew == nullptr) {
    setup_.pool.for_each(loop.costs.size(), loop.here);
    return;
  }
  setup_.crew->share(loop, [&](std::span<const std::byte> work) {
    Parts parts(work);
    engine_.credit(parts.next<std::vector<Work>>().at(0));
  });
}

Bytes Simulation::pack_result(const LocalResult& result) const {
  Bytes bytes = packed(result.packed);
  put_state(bytes, result.state);
  put_accesses(bytes, result.accesses);
  put(bytes, result.examples, result.canary_scores, result.observed.values().size());
  for (const auto& [name, values] : result.observed.values()) put(bytes, name, values.sum, values.count);
  return bytes;
}

Simulation::LocalResult Simulation::unpack_result(std::span<const std::byte> bytes) const {
  LocalResult result;
  Parts parts(bytes);
  const std::span<const std::byte> uplink = parts.part();
  result.uplink = message_from(uplink);
  result.uplink_bytes = static_cast<std::int64_t>(uplink.size());
  result.state = state_from(parts);
  result.accesses = accesses_from(parts);
  std::size_t observed = 0;
  parts(result.examples, result.canary_scores, observed);
  for (; observed > 0; --observed) {
    std::string name;
    Observations::Values values;
    parts(name, values.sum, values.count);
    result.observed.add(name, values);
  }
  parts.finish();
  return result;
}

// No rank but the first keeps the ledger.
void Simulation::put_past(Bytes& bytes, const Past& past) {
  put_state(bytes, past.state);
  put(bytes, past.participations);
  put_accesses(bytes, RoundAccesses(past.charged));
}

Simulation::Past Simulation::past_from(Parts& parts) {
  Past past{.state = state_from(parts)};
  parts(past.participations);
  past.charged = accesses_from(parts).list();
  return past;
}

std::vector<Simulation::LocalResult> Simulation::train_all(const std::vector<std::int64_t>& clients,
                                                           std::int64_t round, const Downlink& downlink,
                                                           const std::function<void()>& done) const {
  std::vector<LocalResult> results(clients.size());
  SharedLoop loop;
  for (const std::int64_t client : clients)
    loop.costs.push_back(1 + static_cast<double>(setup_.partition[static_cast<std::size_t>(client)].size()));
  loop.here = [&](std::size_t index) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    cuda::in_a_lane(device(), [&] {
      results[index] = train_client(clients[index], round, downlink, past_of(clients[index]));
    });
    results[index].uplink = message_from(std::exchange(results[index].packed, {}));
    done();
  };
  if (setup_.crew != nullptr) {
    put(loop.job, kTraining, round, downlink.sent, downlink.look);
    // No rank but the first keeps them: they may be drawn from where nobody can draw them again.
    if (responses_) put(loop.job, encode(Message{{kLabels, train_.targets}}));
  }
  loop.item = [&](std::size_t index) {
    Bytes bytes = packed(clients[index]);
    put_past(bytes, past_of(clients[index]));
    return bytes;
  };
  loop.there = [&](std::size_t index, std::span<const std::byte> bytes) {
    results[index] = unpack_result(bytes);
    done();
  };
  run_loop(loop);
  return results;
}

Handle Simulation::open_training(Parts& job) {
  const auto round = job.next<std::int64_t>();
  auto sent = job.next<Bytes>();
  Downlink downlink = opened(std::move(sent), job.next<FirstLook>());
  if (responses_) train_.targets = message_from(job.part())[kLabels];
  return [this, round, downlink = std::move(downlink)](std::span<const std::byte> item) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Parts parts(item);
    const auto client = parts.next<std::int64_t>();
    const Past past = past_from(parts);
    Bytes bytes;
    cuda::in_a_lane(device(), [&] { bytes = pack_result(train_client(client, round, downlink, past)); });
    return bytes;
  };
}

// Nothing of a personal model leaves its client, so it is made of the exact examples under every policy.
Simulation::Tested Simulation::test(const Evaluator::Piece& piece, const Params& params, std::int64_t next,
                                    const Bytes* sent, const Past& past) const {
  if (sent == nullptr || piece.client < 0) return {evaluator_.score(params, piece), {}};
  ExactOracle oracle(exact_setting(responses_ ? setup_.dataset.train : train_, piece.client),
                     shard_of(piece.client), streams_of(next, piece.client));
  Message state = past.state ? message_from(*past.state) : Message();
  oracle.recall(state);
  Observations observed;
  const PublicCompute compute(compute_, oracle.casting_votes());
  Client view = client_view(piece.client, next, past.participations, oracle, compute, state, observed);
  const Message received = message_from(*sent);  // a copy of its own, as in training
  const Params personal = setup_.algorithm.personalise(view, received);
  oracle.close("after personalise() has returned");
  check_unwritten(*sent, received, next, "personalise");
  return {evaluator_.score(personal, piece), oracle.accesses()};
}

void Simulation::evaluate(results::RoundRecord& record) { evaluate(record, {}, ledger_); }

void Simulation::evaluate(results::RoundRecord& record, const PendingStates& pending, Ledger& ledger) {
  const std::vector<Evaluator::Piece> pieces = evaluator_.pieces();
  const std::int64_t next = record.round + 1;
  const bool personal = setup_.algorithm.personalises() && !evaluator_.tested_clients().empty();
  RoundNotes unseen;
  const Bytes sent = personal ? broadcast(next, unseen) : Bytes();
  const auto past_before = [&](const Evaluator::Piece& piece) -> Past {
    if (!personal || piece.client < 0) return {};
    Past past = past_in(ledger, piece.client);
    const auto changed = pending.find(piece.client);
    past.state = changed == pending.end() ? client_states_.get(piece.client) : changed->second;
    return past;
  };
  std::vector<Score> scores(pieces.size());
  std::vector<RoundAccesses> kept(pieces.size());
  SharedLoop loop;
  for (const Evaluator::Piece& piece : pieces) {
    double cost = static_cast<double>(piece.end - piece.begin);
    if (personal && piece.client >= 0)
      cost += kPassesOfPersonalModels *
              static_cast<double>(setup_.partition[static_cast<std::size_t>(piece.client)].size());
    loop.costs.push_back(cost);
  }
  loop.here = [&](std::size_t index) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Tested tested;
    cuda::in_a_lane(device(), [&] {
      tested = test(pieces[index], params_, next, personal ? &sent : nullptr, past_before(pieces[index]));
    });
    scores[index] = std::move(tested.score);
    kept[index] = std::move(tested.kept);
  };
  if (setup_.crew != nullptr) {
    put(loop.job, kTest, next, encode(Message{{kTestedParams, params_}}), personal, sent);
  }
  loop.item = [&](std::size_t index) {
    Bytes bytes = packed(index);
    put_past(bytes, past_before(pieces[index]));
    return bytes;
  };
  loop.there = [&](std::size_t index, std::span<const std::byte> bytes) {
    Parts parts(bytes);
    for_fields(scores[index], parts);
    kept[index] = accesses_from(parts);
  };
  run_loop(loop);
  evaluator_.write(pieces, scores, personal, record);
  if (!personal) return;
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    if (pieces[index].client >= 0) ledger.record_kept(record.round, pieces[index].client, kept[index]);
  }
}

Handle Simulation::open_test(Parts& job) const {
  const auto next = job.next<std::int64_t>();
  const Message tested = message_from(job.part());
  const auto personal = job.next<bool>();
  return [this, next, params = tested[kTestedParams], personal, sent = job.next<Bytes>(),
          pieces = evaluator_.pieces()](std::span<const std::byte> item) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Parts parts(item);
    const Evaluator::Piece& piece = pieces.at(parts.next<std::size_t>());
    const Past past = past_from(parts);
    Tested result;
    cuda::in_a_lane(device(), [&] { result = test(piece, params, next, personal ? &sent : nullptr, past); });
    Bytes bytes;
    for_fields(result.score, [&](const auto&... all) { put(bytes, all...); });
    put_accesses(bytes, result.kept);
    return bytes;
  };
}

Worker Simulation::worker() {
  const auto open = [this](std::span<const std::byte> job) {
    Parts parts(job);
    return parts.next<JobKind>() == kTraining ? open_training(parts) : open_test(parts);
  };
  const auto work = [this, before = engine_.work()]() mutable {
    const Work now = engine_.work(), done = now - before;  // since it was last asked
    before = now;
    return packed(std::span(&done, 1));
  };
  return {.open = open, .work = work};
}

}  // namespace fedarena
