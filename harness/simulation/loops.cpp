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
  put_number(bytes, state ? 1 : 0);
  if (state) put_part(bytes, *state);
}

ClientStates::State state_from(Parts& parts) {
  if (parts.number() == 0) return nullptr;
  const std::span<const std::byte> bytes = parts.part();
  return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
}

// As a ledger writes them, of one client and one round.
void put_accesses(Bytes& bytes, const RoundAccesses& accesses) {
  const bool any = !accesses.list().empty() || accesses.unmade();
  put_number(bytes, any ? 1 : 0);
  if (!any) return;
  Ledger ledger;
  ledger.add_client(0, 1);
  ledger.record(1, 0, accesses);
  put_text(bytes, ledger.to_json());
}

RoundAccesses accesses_from(Parts& parts) {
  if (parts.number() == 0) return {};
  const Ledger ledger = Ledger::from_json(parts.text());
  return ledger.clients().at(0).segments.front().round();
}

Bytes pack_score(const Score& score) {
  Bytes bytes;
  put_double(bytes, score.loss_sum);
  put_number(bytes, static_cast<std::uint64_t>(score.correct));
  put_number(bytes, static_cast<std::uint64_t>(score.examples));
  for (const auto* counts : {&score.by_class.examples, &score.by_class.predicted, &score.by_class.correct})
    put_numbers(bytes, *counts);
  return bytes;
}

Score score_from(Parts& parts) {
  Score score;
  score.loss_sum = parts.floating();
  score.correct = parts.integer();
  score.examples = parts.integer();
  for (auto* counts : {&score.by_class.examples, &score.by_class.predicted, &score.by_class.correct})
    *counts = parts.numbers<std::int64_t>();
  return score;
}

}  // namespace

void Simulation::run_loop(const SharedLoop& loop) const {
  if (setup_.crew == nullptr) {
    setup_.pool.for_each(loop.costs.size(), loop.here);
    return;
  }
  setup_.crew->share(loop, [&](std::span<const std::byte> work) {
    Parts parts(work);
    engine_.credit(parts.numbers<Work>().at(0));
  });
}

Bytes Simulation::pack_result(const LocalResult& result) const {
  Bytes bytes;
  put_part(bytes, result.packed);
  put_state(bytes, result.state);
  put_accesses(bytes, result.accesses);
  put_number(bytes, static_cast<std::uint64_t>(result.examples));
  put_number(bytes, result.observed.values().size());
  for (const auto& [name, values] : result.observed.values()) {
    put_text(bytes, name);
    put_double(bytes, values.sum);
    put_number(bytes, static_cast<std::uint64_t>(values.count));
  }
  put_numbers(bytes, result.canary_scores);
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
  result.examples = parts.integer();
  for (std::uint64_t left = parts.number(); left > 0; --left) {
    const std::string name = parts.text();
    Observations::Values values;
    values.sum = parts.floating();
    values.count = parts.integer();
    result.observed.add(name, values);
  }
  result.canary_scores = parts.numbers<double>();
  parts.finish();
  return result;
}

// No rank but the first keeps the ledger.
void Simulation::put_past(Bytes& bytes, const Past& past) {
  put_state(bytes, past.state);
  put_number(bytes, static_cast<std::uint64_t>(past.participations));
  put_accesses(bytes, RoundAccesses(past.charged));
}

Simulation::Past Simulation::past_from(Parts& parts) {
  Past past{.state = state_from(parts)};
  past.participations = parts.integer();
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
    put_number(loop.job, kTraining);
    put_number(loop.job, static_cast<std::uint64_t>(round));
    put_part(loop.job, downlink.sent);
    // No rank but the first keeps them: they may be drawn from where nobody can draw them again.
    if (responses_) put_part(loop.job, encode(Message{{kLabels, train_.targets}}));
  }
  loop.item = [&](std::size_t index) {
    Bytes bytes;
    put_number(bytes, static_cast<std::uint64_t>(clients[index]));
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
  const std::int64_t round = job.integer();
  const std::span<const std::byte> sent = job.part();
  Downlink downlink = opened({sent.begin(), sent.end()});
  if (responses_) train_.targets = message_from(job.part())[kLabels];
  return [this, round, downlink = std::move(downlink)](std::span<const std::byte> item) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Parts parts(item);
    const std::int64_t client = parts.integer();
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
    put_number(loop.job, kTest);
    put_number(loop.job, static_cast<std::uint64_t>(next));
    put_part(loop.job, encode(Message{{kTestedParams, params_}}));
    put_number(loop.job, personal ? 1 : 0);
    if (personal) put_part(loop.job, sent);
  }
  loop.item = [&](std::size_t index) {
    Bytes bytes;
    put_number(bytes, index);
    put_past(bytes, past_before(pieces[index]));
    return bytes;
  };
  loop.there = [&](std::size_t index, std::span<const std::byte> bytes) {
    Parts parts(bytes);
    scores[index] = score_from(parts);
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
  const std::int64_t next = job.integer();
  const Message tested = message_from(job.part());
  const bool personal = job.number() != 0;
  const std::span<const std::byte> part = personal ? job.part() : std::span<const std::byte>();
  return [this, next, params = tested[kTestedParams], personal, sent = Bytes(part.begin(), part.end()),
          pieces = evaluator_.pieces()](std::span<const std::byte> item) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Parts parts(item);
    const Evaluator::Piece& piece = pieces.at(parts.number());
    const Past past = past_from(parts);
    Tested result;
    cuda::in_a_lane(device(), [&] { result = test(piece, params, next, personal ? &sent : nullptr, past); });
    Bytes bytes = pack_score(result.score);
    put_accesses(bytes, result.kept);
    return bytes;
  };
}

Worker Simulation::worker() {
  const auto open = [this](std::span<const std::byte> job) {
    Parts parts(job);
    return parts.number() == kTraining ? open_training(parts) : open_test(parts);
  };
  const auto work = [this, before = engine_.work()]() mutable {
    const Work now = engine_.work(), done = now - before;  // since it was last asked
    before = now;
    Bytes bytes;
    put_part(bytes, std::as_bytes(std::span(&done, 1)));
    return bytes;
  };
  return {.open = open, .work = work};
}

}  // namespace fedarena
