// A round: what is sent down and comes back, the server's side of the policy, and how it is brought to an
// end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "harness/gradients/cuda/lane.hpp"
#include "harness/oracle/private_uplink.hpp"
#include "harness/simulation/cohort.hpp"
#include "harness/simulation/round_notes.hpp"
#include "harness/simulation/simulation.hpp"

namespace fedarena {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Message> uplinks_of(auto& local) {
  std::vector<Message> uplinks;
  for (auto& each : local) uplinks.push_back(std::move(each.uplink));
  return uplinks;
}

// Tensors of a message that is copied are the same ones.
Message deep_copy(Message message) {
  for (const Message::Entry& entry : message.entries()) {
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (tensor != nullptr && tensor->defined()) message.put_entry({entry.name, tensor->clone()});
  }
  return message;
}

}  // namespace

PrivateUplink Simulation::privatised(const ClientPolicy& policy, std::int64_t round,
                                     std::vector<Message> uplinks) const {
  return {{.policy = policy,
           .declared = uplinks_.at(static_cast<std::size_t>(round)),
           .look = first_look(),
           .clip_norm = clip_norm_,
           .expected_cohort = setup_.cohort_size,
           .population = population(),
           .streams = streams_of(round, kServer),
           .zeros = zeros_like(params_),
           .canaries = &canaries_},
          std::move(uplinks)};
}

PrivateUplink Simulation::sum_of(const ClientPolicy& policy, std::int64_t round) const {
  PrivateUplink uplink = privatised(policy, round, {});
  uplink.charge_a_sum();
  return uplink;
}

bool Simulation::declares_nothing(std::int64_t round) const {
  if (unit(setup_.policy) != Unit::kClient) return false;
  const auto& declared = uplinks_.at(static_cast<std::size_t>(round));
  return declared && declared->empty();
}

void Simulation::add_undeclared(std::int64_t round, std::vector<Access>& everybody) const {
  if (!uplinks_.at(static_cast<std::size_t>(round)))
    everybody.push_back({ExactAccess{kUndeclaredMessages}, 1});
}

// A round without messages was planned as such: no answer had a say in what it asks for.
RoundAccesses Simulation::of_everybody(std::int64_t round, std::vector<Access> accesses) const {
  RoundAccesses result(std::move(accesses));
  if (declares_nothing(round)) result.leave_unmade({});
  return result;
}

RoundAccesses Simulation::aggregate(Server& server, std::vector<Message> uplinks, Ledger& ledger) {
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  if (policy == nullptr) {
    setup_.algorithm.aggregate(server, CohortUplink(std::move(uplinks)));
    return {};
  }
  const std::int64_t round = server.round;  // which the algorithm may write to
  const PrivateUplink uplink = privatised(*policy, round, std::move(uplinks));
  setup_.algorithm.aggregate(server, uplink);
  if (policy->as_if_cohort > 0) ledger.record_as_if(round, uplink.as_if_accesses());
  clip_norm_ = uplink.next_clip_norm();
  return uplink.accesses();
}

void Simulation::add_to_first_round(std::vector<Access>& everybody) const {
  everybody.insert(everybody.end(), response_accesses_.list().begin(), response_accesses_.list().end());
  if (setup_.tests_tell_label_counts) everybody.push_back({label_count_access(setup_.policy), 1});
}

Bytes Simulation::broadcast(std::int64_t round, RoundNotes& notes) const {
  Params params = params_;
  Message state = deep_copy(server_state_);
  return encode(setup_.algorithm.broadcast(server_view(round, params, state, notes)));
}

Bytes Simulation::next_downlink() const {
  RoundNotes unused;
  return broadcast(round_ + 1, unused);
}

Simulation::Downlink Simulation::opened(Bytes bytes, FirstLook look) const {
  Downlink downlink{.message = message_from(bytes), .centres = {}, .sent = {}, .look = look};
  downlink.sent = std::move(bytes);
  if (const auto* policy = std::get_if<LocalPolicy>(&setup_.policy))
    downlink.centres = {setup_.algorithm.centres(downlink.message), params_, policy->by_tensor};
  return downlink;
}

void Simulation::check_unwritten(const Bytes& sent, const Message& downlink, std::int64_t round,
                                 const char* where) const {
  if (encodes_to(downlink, sent)) return;
  throw Error(Complaint{
      .found = fmt::format("the message from the server was written to by {} in {}, round {}",
                           setup_.algorithm_name, where, round),
      .remedy =
          "Change a copy: a clone() of a tensor, or Params of its own; data() and pointers are no copy"});
}

FirstLook Simulation::first_look() const {
  bool exact = false, noised = false;
  const auto look = [&](const std::vector<Ledger::Segment>& segments) {
    for (const Ledger::Segment& segment : segments) {
      exact = exact || any_event(segment.accesses, is_exact);
      noised = noised || any_event(segment.accesses, is_noised);
    }
  };
  look(ledger_.population());
  // Those of clients are theirs alone under the other policies.
  if (unit(setup_.policy) == Unit::kRecord) {
    for (const auto& [client, record] : ledger_.clients()) look(record.segments);
  }
  return exact ? FirstLook::kTaken : noised ? FirstLook::kTooLate : FirstLook::kOpen;
}

SeenUplink Simulation::next_uplink(std::int64_t client) {
  const std::int64_t round = round_ + 1;
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  std::vector<std::int64_t> cohort{client};
  if (policy != nullptr) {
    cohort = cohort_of(round);
    if (!std::ranges::binary_search(cohort, client))
      cohort.insert(std::ranges::upper_bound(cohort, client), client);
  }
  Downlink downlink = opened(next_downlink(), first_look());
  downlink.keeps_batches = true;
  std::vector<LocalResult> local = train_all(cohort, round, downlink, [] {});
  const LocalResult& own =
      local[static_cast<std::size_t>(std::ranges::find(cohort, client) - cohort.begin())];
  SeenUplink seen{.message = own.uplink, .gradients = own.gradients, .unnoised = message_from(own.unnoised)};
  if (own.last_batch.defined()) {
    const Message asked = message_from(own.asked);
    seen.asked_at = asked[kAskedAt];
    seen.sum = asked[kSum];
    seen.examples = reader_.read(train_, own.last_batch, skew_of(client, 0));
  }
  if (policy == nullptr) return seen;
  const PrivateUplink sums = privatised(*policy, round, uplinks_of(local));
  Message means;
  for (const Message::Entry& entry : seen.message.entries()) {
    if (std::holds_alternative<Params>(entry.content)) {
      const Key<Params> key{entry.name.c_str()};
      means.put(key, sums.mean(key));
    }
  }
  seen.message = std::move(means);
  return seen;
}

results::RoundRecord Simulation::next_round() {
  const Params params = params_;
  const Message server_state = deep_copy(server_state_);
  // What start() or aggregate() put in may share memory with the model, which a resumed run would not know.
  server_state_ = deep_copy(server_state_);
  const double clip_norm = clip_norm_;
  try {
    return play_round();
  } catch (...) {
    params_ = params;
    server_state_ = server_state;
    clip_norm_ = clip_norm;
    throw;
  }
}

results::RoundRecord Simulation::play_round() {
  const auto start = Clock::now();
  const std::int64_t round = round_ + 1;
  if (round == 1) check_label_counts();
  client_states_.settle();  // the round before is in the ledger on disk
  std::vector<std::int64_t> cohort = cohort_of(round);
  std::set<std::int64_t> spent = spent_;
  if (!spent.empty() && spent.size() == training_.size()) throw BudgetSpent();
  std::erase_if(cohort, [&](std::int64_t client) { return spent.contains(client); });
  const CostMeter meter(engine_);
  RoundNotes notes;
  Server server = server_view(round, params_, server_state_, notes);

  const Downlink downlink = opened(broadcast(round, notes), first_look());
  check_forecast(round, cohort, downlink.centres);
  Ledger ledger = ledger_;
  std::vector<LocalResult> local;
  bool withheld = false;  // somebody's answers
  try {
    leave_out_unpaid(cohort, downlink.centres, spent, ledger);
    std::atomic<std::int64_t> done = 0;
    std::vector<LocalResult> all = train_all(cohort, round, downlink, [&] {
      if (setup_.on_client) setup_.on_client(++done, static_cast<std::int64_t>(cohort.size()));
    });
    const auto made = [&](std::size_t place) { return all[place].accesses; };
    for (const std::size_t place : leave_out_spent(cohort, made, Known::kAnswered, spent, ledger))
      local.push_back(std::move(all[place]));
    withheld = local.size() < all.size();
  } catch (const BudgetSpent&) {
    ledger_ = std::move(ledger);  // of whom a round was withheld
    spent_ = std::move(spent);
    throw;
  }

  results::RoundRecord record;
  record.round = round;
  record.clients = static_cast<std::int64_t>(cohort.size());
  record.downlink_bytes = std::ssize(downlink.sent) * std::ssize(cohort);
  // Observations pass no mechanism on whole messages.
  const Unit hidden = unit(setup_.policy);
  const bool may_observe = hidden != Unit::kClient && hidden != Unit::kLocal;
  Observations of_clients;  // which the server is not to see, for no byte of them is counted
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    record.uplink_bytes += local[index].uplink_bytes;
    record.examples += local[index].examples;
    ledger.record(round, cohort[index], local[index].accesses);
    // The price of a round around centres that earlier ones moved is up to data, also where they stayed.
    if (round > 1 && downlink.centres.vary()) ledger.withhold(cohort[index]);
    if (may_observe) of_clients.add(local[index].observed);
  }
  // What a message holds is noised; how long it is, tables tell everybody, and what its entries are called,
  // the server may find out.
  const bool undeclared = hidden == Unit::kClient && shapes_tell(round, local);
  // Without anybody who could pay, the model stays.
  RoundAccesses answered;
  if (!cohort.empty() || !has_own_budgets(setup_.policy))
    answered = aggregate(server, uplinks_of(local), ledger);
  notes.observed.add(of_clients);
  std::vector<Access> everybody = answered.list();
  if (round == 1) add_to_first_round(everybody);
  if (undeclared) everybody.push_back({ExactAccess{kUndeclaredMessages}, 1});
  const bool has_exact = any_event(everybody, is_exact);
  if (hidden == Unit::kClient || !everybody.empty())
    ledger.record_population(round, of_everybody(round, std::move(everybody)));
  notes.synthetic = in_pixels(notes.synthetic, reader_, setup_.model);
  try {
    check_budget(ledger);
  } catch (const BudgetSpent&) {
    // As of whom leave_out_spent leaves out. But whole messages may have decided on an exact access, which no
    // budget covers.
    if (hidden == Unit::kClient && has_exact)
      ledger_.add_lost(ledger, round);
    else
      ledger_.withhold(Ledger::kEverybody);
    throw;
  }
  const torch::Tensor labels = labels_after(round);
  if (hidden != Unit::kNothing) record.epsilon = odometer_.epsilon(ledger).epsilon;
  record.observed = observed_means(notes.observed);
  if (hidden != Unit::kClient) record.choices = choices_of(cohort, notes.choices);
  record.cost = withheld ? cost_of(local) : meter.cost();
  cuda::wait_for(setup_.model.options().device());
  record.train_seconds = seconds_since(start);
  PendingStates states;
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    if (local[index].state != nullptr) states.emplace(cohort[index], std::move(local[index].state));
  }
  if (round % setup_.evaluate_every == 0 || round == setup_.rounds) {
    const auto evaluation_start = Clock::now();
    evaluate(record, states, ledger);
    record.evaluation_seconds = seconds_since(evaluation_start);
  }
  // Not on disk before the ledger. Nothing else may fail from here on.
  client_states_.stage(std::move(states));
  add_canary_scores(cohort, local);
  for (const std::int64_t client : cohort) {
    if (!pays_again(client, ledger)) spent.insert(client);
  }
  if (labels.defined()) train_.targets = labels;
  spent_ = std::move(spent);
  ledger_ = std::move(ledger);
  synthetic_ = std::move(notes.synthetic);
  round_ = round;
  return record;
}

// What others computed may depend on answers that nobody is charged for.
results::Cost Simulation::cost_of(std::span<const LocalResult> local) const {
  results::Cost cost{.at_least = true};
  for (const LocalResult& result : local) cost.gradients += result.examples;
  cost.operations = cost.gradients * count_operations(setup_.model).gradient;
  return cost;
}

bool Simulation::shapes_tell(std::int64_t round, std::span<const LocalResult> local) const {
  const std::optional<std::vector<UplinkEntry>>& declared = uplinks_.at(static_cast<std::size_t>(round));
  if (!declared) return true;
  const std::int64_t bytes = bytes_of(*declared);
  return std::ranges::any_of(local, [&](const LocalResult& result) {
    return result.uplink_bytes != bytes || !is_as_declared(result.uplink, *declared);
  });
}

std::int64_t Simulation::bytes_of(const std::vector<UplinkEntry>& entries) const {
  Message message;
  for (const UplinkEntry& entry : entries) {
    if (entry.counts_examples)
      message.put(Key<std::int64_t>{entry.name.c_str()}, std::int64_t{0});
    else
      message.put(Key<Params>{entry.name.c_str()}, params_);
  }
  return std::ssize(encode(message));
}

std::optional<std::int64_t> Simulation::uplink_bytes_in(std::int64_t round) const {
  try {
    return bytes_of(setup_.algorithm.uplink_entries(round));
  } catch (const Error&) {
    return std::nullopt;  // it declares none
  }
}

std::optional<std::int64_t> Simulation::declared_uplink_bytes() const {
  const std::optional<std::int64_t> first = uplink_bytes_in(1);
  for (std::int64_t round = 2; round <= setup_.rounds; ++round) {
    if (uplink_bytes_in(round) != first) return std::nullopt;
  }
  return first;
}

void Simulation::add_canary_scores(const std::vector<std::int64_t>& cohort,
                                   const std::vector<LocalResult>& local) {
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    const std::vector<std::int64_t> own = canaries_.of(cohort[index]);
    const std::vector<double>& scores = local[index].canary_scores;
    for (std::size_t i = 0; i < scores.size(); ++i)
      gradient_scores_[static_cast<std::size_t>(own[i])] += scores[i];
  }
}

}  // namespace fedarena
