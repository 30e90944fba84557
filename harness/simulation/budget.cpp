// What a run may still spend: a privacy filter for the run as a whole (Lecuyer 2021), or one for each client
// that has a budget of its own.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/text.hpp"

#include "harness/oracle/private_uplink.hpp"
#include "harness/simulation/simulation.hpp"

namespace fedarena {
namespace {

// Whether the last round, of which no plan told before, was asked for something else than the one before it;
// also without noise, which Ledger::varies() leaves out, since it costs whoever publishes it everything
// anyway.
bool is_unlike(const std::vector<Ledger::Segment>& segments) {
  const auto priced = [](std::vector<Access> accesses) {
    std::erase_if(accesses, [](const Access& access) { return is_free(access.event); });
    return accesses;
  };
  if (segments.size() < 2 || segments.back().unmade) return false;
  const auto last = segments.back().accesses_of_attempt();
  const auto before = segments[segments.size() - 2].accesses_of_attempt();
  return !last || !before || priced(*last) != priced(*before);
}

// Of a unit whose rounds so far, two or more, made the same accesses: what one of them made.
std::optional<RoundAccesses> same_again(const std::vector<Ledger::Segment>& segments) {
  if (segments.size() != 1 || segments.front().participations < 2) return std::nullopt;
  return segments.front().round();
}

// "4 gradients of batches of 64, 1 vote"
std::string describe(const AccessPlan& plan) {
  std::vector<std::string> kinds;
  const auto add = [&](std::int64_t count, std::string_view one, std::string_view several = {}) {
    if (count > 0) kinds.push_back(counted(count, one, several));
  };
  for (const auto& [batch_size, count] : plan.gradients) {
    const std::string of = batch_size == 0 ? "the whole shard" : fmt::format("batches of {}", batch_size);
    add(count, "gradient of " + of, "gradients of " + of);
  }
  add(plan.votes, "vote");
  add(plan.part_votes, "vote of parts", "votes of parts");
  return kinds.empty() ? "nothing" : fmt::format("{}", fmt::join(kinds, ", "));
}

// What to do about a first round that costs more than a budget; none: nobody can prove what it costs.
std::string remedy_for(std::optional<double> epsilon) {
  if (!epsilon || std::isinf(*epsilon))
    return "No budget pays for an access without noise, or of unproven cost: change what makes it, or leave "
           "the budget out";
  return "Raise noise_multiplier (noise_for_epsilon finds how far), train less in a round, or raise the "
         "budget";
}

}  // namespace

// Before anything is trained: what tests of clients tell costs every client, whatever it does.
void Simulation::check_label_counts() const {
  if (!has_budget(setup_.policy) || !setup_.tests_tell_label_counts) return;
  if (std::holds_alternative<DeclaredPublic>(label_count_access(setup_.policy))) return;
  throw Error(Complaint{
      .found = "tests of clients tell how many examples of each class each client holds, an exact access for "
               "which no budget pays",
      .remedy =
          "Set public_label_counts = true if everybody knows them, or leave out per_client or the budget"});
}

// Saves the work of a round that is bound to be withheld: a plan is charged in full; without one, when all
// rounds so far, two or more, made the same accesses, so will the next one. Before the first round, messages
// tell what they will cost; what an oracle will be asked for, nobody knows.
void Simulation::check_forecast(std::int64_t round, const std::vector<std::int64_t>& cohort) const {
  if (!has_budget(setup_.policy) || has_own_budgets(setup_.policy)) return;
  const auto* local = std::get_if<LocalPolicy>(&setup_.policy);
  Ledger forecast = ledger_;
  for (const std::int64_t client : cohort) {
    std::optional<RoundAccesses> accesses = planned_accesses(client, round, ledger_);
    if (!accesses) accesses = same_again(ledger_.clients().at(client).segments);
    if (round_ == 0 && local != nullptr) accesses = message_accesses(*local, client, round);
    if (accesses && !accesses->charged().empty()) forecast.record(round, client, *accesses);
  }
  const auto* clients = std::get_if<ClientPolicy>(&setup_.policy);
  if (const auto again = same_again(ledger_.population()))
    forecast.record_population(round, *again);
  else if (round_ == 0 && clients != nullptr)  // a server that asks for no sum has no use for a budget
    forecast.record_population(round, sum_of(*clients, round).accesses());
  check_budget(forecast);
}

void Simulation::check_next_round() {
  if (round_ == 0) check_label_counts();
  std::vector<std::int64_t> cohort = cohort_of(round_ + 1);
  if (!opened(next_downlink()).centres.vary()) check_forecast(round_ + 1, cohort);
  std::set<std::int64_t> spent = spent_;
  Ledger ledger = ledger_;
  leave_out_unpaid(cohort, spent, ledger);
}

void Simulation::leave_out_unpaid(std::vector<std::int64_t>& cohort, std::set<std::int64_t>& spent,
                                  Ledger& ledger) const {
  const auto planned = [&](std::size_t place) {
    return planned_accesses(cohort[place], round_ + 1, ledger_);
  };
  leave_out_spent(cohort, planned, spent, ledger);
}

bool Simulation::within_budget(const Ledger& ledger) const {
  const std::optional<double> epsilon = odometer_.epsilon(ledger).epsilon;
  return epsilon && *epsilon <= accounting(setup_.policy)->budget.number();
}

void Simulation::check_budget(const Ledger& ledger) const {
  if (!has_budget(setup_.policy) || has_own_budgets(setup_.policy) || within_budget(ledger)) return;
  if (round_ > 0) throw BudgetSpent();
  refuse_another_first_round();
  const double budget = accounting(setup_.policy)->budget.number();
  const std::optional<double> epsilon = odometer_.epsilon(ledger).epsilon;
  throw Error(Complaint{
      .found = fmt::format("the budget of epsilon {} does not pay for a single round, which would cost {}",
                           budget, epsilon ? fmt::format("{}", *epsilon) : "what nobody can prove"),
      .remedy = remedy_for(epsilon)});
}

void Simulation::withhold_round(const Ledger& with_it) {
  const auto unlike = [](const auto& entry) { return is_unlike(entry.second.segments); };
  if (with_it.varies() || is_unlike(with_it.population()) || std::ranges::any_of(with_it.clients(), unlike))
    ledger_.withhold(Ledger::kEverybody);
}

// Of a run without a round, all that is charged was lost.
void Simulation::refuse_another_first_round() const {
  const auto has_any = [](const auto& entry) { return !entry.second.segments.empty(); };
  if (std::ranges::none_of(ledger_.clients(), has_any)) return;
  throw Error(Complaint{
      .found = "a crash lost the first round after it was answered, and the budget does not pay for it again",
      .remedy = "Remove the run directory to begin anew, if nobody has seen anything of that round"});
}

bool Simulation::pays(std::int64_t client, std::vector<Access> charged,
                      const std::vector<Access>& more) const {
  charged.insert(charged.end(), more.begin(), more.end());
  // Unproven is too much.
  const std::optional<double> epsilon = odometer_.epsilon(charged).epsilon;
  return epsilon && *epsilon <= budget_of(setup_.policy, client);
}

bool Simulation::pays_again(std::int64_t client, const Ledger& ledger) const {
  const std::vector<Ledger::Segment>& segments = ledger.clients().at(client).segments;
  const auto again = same_again(segments);
  return !again || pays(client, Ledger::charged_of(segments), again->charged());
}

std::set<std::int64_t> Simulation::spent_so_far() const {
  std::set<std::int64_t> spent;
  if (!has_own_budgets(setup_.policy)) return spent;
  std::map<std::int64_t, std::int64_t> drawn;
  const std::int64_t last = ledger_.ended_after() > 0 ? setup_.rounds : round_;
  for (std::int64_t round = 1; round <= last; ++round) {
    for (const std::int64_t client : cohort_of(round)) ++drawn[client];
  }
  for (const std::int64_t client : training_) {
    const std::int64_t took_part = Ledger::participations_of(ledger_.clients().at(client).segments);
    if (took_part < drawn[client] || !pays_again(client, ledger_)) spent.insert(client);
  }
  return spent;
}

std::vector<std::size_t> Simulation::leave_out_spent(std::vector<std::int64_t>& cohort,
                                                     const AccessesOf& accesses_of,
                                                     std::set<std::int64_t>& spent, Ledger& ledger) const {
  std::vector<std::size_t> places;
  std::vector<std::int64_t> paying;
  std::optional<double> cost = 0;  // of who cannot pay, which a round without anybody does not tell
  for (std::size_t place = 0; place < cohort.size(); ++place) {
    const std::int64_t client = cohort[place];
    const auto accesses = has_own_budgets(setup_.policy) ? accesses_of(place) : std::nullopt;
    if (!accesses ||
        pays(client, Ledger::charged_of(ledger_.clients().at(client).segments), accesses->charged())) {
      places.push_back(place);
      paying.push_back(client);
      continue;
    }
    spent.insert(client);
    cost = odometer_.epsilon(accesses->charged()).epsilon;
    Ledger with_it = ledger_;
    with_it.record(round_ + 1, client, *accesses);
    if (with_it.varies(client) || is_unlike(with_it.clients().at(client).segments)) ledger.withhold(client);
  }
  cohort = std::move(paying);
  const bool nobody_is_left = !spent.empty() && spent.size() == training_.size();
  const bool ends_without_them = !spent.empty() && cohort.empty() && round_ + 1 == setup_.rounds;
  if (!nobody_is_left && !ends_without_them) return places;
  const auto took_part = [](const auto& entry) {
    return Ledger::participations_of(entry.second.segments) > 0;
  };
  if (std::ranges::any_of(ledger_.clients(), took_part)) {
    if (nobody_is_left) throw BudgetSpent();
    return places;
  }
  // Where nobody ever trained, the run would end in the model that it began with.
  refuse_another_first_round();
  throw Error(Complaint{.found = "no client's budget pays for a single round", .remedy = remedy_for(cost)});
}

std::optional<AccessPlan> Simulation::plan_of(std::int64_t client, std::int64_t round,
                                              std::int64_t participations, MeteredOracle& oracle) const {
  if (unit(setup_.policy) != Unit::kRecord) return std::nullopt;
  const std::vector<Access> before = oracle.accesses().list();
  Message nothing;
  Observations unseen;
  std::optional<AccessPlan> plan =
      setup_.algorithm.access_plan(client_view(client, round, participations, oracle, nothing, unseen));
  // A plan that looked at data would be one more thing that they decide.
  if (oracle.accesses().list() == before) return plan;
  throw Error(
      Complaint{.found = fmt::format("{} asks for private data in access_plan() of client {} in round {}",
                                     setup_.algorithm_name, client, round),
                .remedy = "A plan is made before anything is asked for: leave that to train()"});
}

AccessPlan Simulation::unasked(const AccessPlan& plan, const AccessPlan& asked, const Client& client) const {
  AccessPlan left = plan;
  left.votes -= asked.votes;
  left.part_votes -= asked.part_votes;
  bool beyond = left.votes < 0 || left.part_votes < 0;
  for (const auto& [batch_size, count] : asked.gradients)
    beyond = (left.gradients[batch_size] -= count) < 0 || beyond;
  if (!beyond) return left;
  throw Error(
      Complaint{.found = fmt::format("{} asked client {} in round {} for {}", setup_.algorithm_name,
                                     client.id, client.round, describe(asked)),
                .allowed = "what its plan has, which is what epsilon charges: " + describe(plan),
                .remedy = "What the algorithm returns from access_plan() must be the most that it asks for"});
}

RoundAccesses Simulation::message_accesses(const LocalPolicy& policy, std::int64_t client,
                                           std::int64_t round) const {
  const DeclaredUplink declared = declared_uplink(client, round, shard_of(client).size(0));
  Message zeros;
  for (const UplinkEntry& entry : declared.entries) {
    if (entry.counts_examples)
      zeros.put_entry({entry.name, declared.examples});
    else
      zeros.put_entry({entry.name, zeros_like(params_)});
  }
  RoundAccesses accesses;
  // Where they vary, centres change the price.
  randomise(zeros, declared, of_client(policy, client), Centres(), streams_of(round, client), accesses);
  return accesses;
}

std::optional<RoundAccesses> Simulation::planned_accesses(std::int64_t client, std::int64_t round,
                                                          const Ledger& before) const {
  if (unit(setup_.policy) != Unit::kRecord) return std::nullopt;
  const Past past = past_in(before, client);
  const std::unique_ptr<MeteredOracle> oracle =
      open_shard(client, round, streams_of(round, client), past.charged);
  const auto plan = plan_of(client, round, past.participations, *oracle);
  if (!plan) return std::nullopt;
  return RoundAccesses(oracle->accesses().list(), oracle->noised(*plan));
}

}  // namespace fedarena
