// What a run is going to be charged, as far as that can be told before anybody works.
#include <algorithm>
#include <cstdint>
#include <optional>
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

void check_size(const AccessPlan& plan) {
  std::int64_t all = plan.votes + plan.part_votes;
  for (const auto& [batch_size, count] : plan.gradients) all += count;
  if (all <= kMostAccesses) return;
  throw Error(
      Complaint{.found = "an algorithm plans to ask a client in a round for " + describe(plan),
                .allowed = fmt::format("at most {} answers, which is what ledgers hold", kMostAccesses),
                .remedy = "What access_plan() returns must be the most that train() asks for"});
}

}  // namespace

std::optional<AccessPlan> Simulation::plan_of(std::int64_t client, std::int64_t round,
                                              std::int64_t participations, MeteredOracle& oracle) const {
  Message nothing;
  Observations unseen;
  oracle.close("in access_plan()");  // a plan that looked at data would be one more thing that they decide
  std::optional<AccessPlan> plan = setup_.algorithm.access_plan(
      client_view(client, round, participations, oracle, compute_, nothing, unseen));
  oracle.open();
  if (plan) check_size(*plan);
  return plan;
}

void Simulation::try_plan() const {
  const auto holds_any = [&](std::int64_t client) {
    return !setup_.partition[static_cast<std::size_t>(client)].empty();
  };
  const auto client = std::ranges::find_if(training_, holds_any);
  if (client == training_.end()) return;
  const auto may_ask_for_gradients = [&](std::int64_t round) {
    const auto plan =
        plan_of(*client, round, round - 1, *open_shard(*client, round, streams_of(round, *client), {}));
    return !plan ||
           std::ranges::any_of(plan->gradients, [](const auto& of_size) { return of_size.second > 0; });
  };
  bool asks = may_ask_for_gradients(1);
  if (setup_.canaries.kind != kGradientCanaries) return;
  for (std::int64_t round = 2; !asks && round <= setup_.rounds; ++round) asks = may_ask_for_gradients(round);
  if (asks) return;
  throw Error(Complaint{
      .found = fmt::format("canaries of the kind \"{}\" stand in gradients of examples, and {} asks for none",
                           kGradientCanaries, setup_.algorithm_name),
      .remedy =
          fmt::format("Audit it with kind = \"{}\" in [audit], or leave it out", kMislabelledCanaries)});
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

std::optional<RoundAccesses> Simulation::planned_accesses(std::int64_t client, std::int64_t round,
                                                          const Ledger& before,
                                                          const Centres& centres) const {
  if (const auto* policy = std::get_if<LocalPolicy>(&setup_.policy)) {
    const std::vector<UplinkEntry>& entries = uplinks_.at(static_cast<std::size_t>(round)).value();
    return charges_of(entries, params_, of_client(*policy, client), centres);
  }
  if (unit(setup_.policy) != Unit::kRecord) return std::nullopt;
  const Past past = past_in(before, client);
  const std::unique_ptr<MeteredOracle> oracle =
      open_shard(client, round, streams_of(round, client), past.charged);
  const auto plan = plan_of(client, round, past.participations, *oracle);
  if (!plan) return std::nullopt;
  return RoundAccesses(oracle->accesses().list(), oracle->noised(*plan));
}

std::optional<RoundAccesses> Simulation::same_again(const std::vector<Ledger::Segment>& segments) {
  if (segments.size() != 1 || segments.front().participations < 2) return std::nullopt;
  return segments.front().round();
}

bool Simulation::foresee_round(std::int64_t round, const std::vector<std::int64_t>& cohort,
                               const Centres& centres, std::set<std::int64_t>& spent, Ledger& ledger) const {
  const Unit hidden = unit(setup_.policy);
  bool complete = true;
  for (const std::int64_t client : cohort) {
    if (spent.contains(client)) continue;
    std::optional<RoundAccesses> accesses = planned_accesses(client, round, ledger, centres);
    if (!accesses) accesses = same_again(ledger.clients().at(client).segments);
    if (!accesses) {
      complete = complete && hidden != Unit::kRecord;
    } else if (!pays(client, ledger, *accesses)) {
      spent.insert(client);
    } else {
      ledger.record(round, client, *accesses);
    }
  }
  const auto* clients = std::get_if<ClientPolicy>(&setup_.policy);
  const bool has_messages =
      clients == nullptr || (uplinks_.at(static_cast<std::size_t>(round)) && !declares_nothing(round));
  if (const auto again = same_again(ledger.population()); again && !again->unmade() && has_messages) {
    ledger.record_population(round, *again);
    return complete;
  }
  std::vector<Access> everybody;
  // Before the first round that has messages: a server that asks for no sum has no use for a budget. One that
  // asked, asks again.
  const std::vector<Ledger::Segment>& before = ledger.population();
  const bool asks =
      round_ == 0 || (!before.empty() && (before.back().unmade || !before.back().accesses.empty()));
  if (clients != nullptr && asks && !declares_nothing(round))
    everybody = sum_of(*clients, round).accesses().list();
  if (clients != nullptr) add_undeclared(round, everybody);
  if (round == 1) add_to_first_round(everybody);
  if (!everybody.empty()) ledger.record_population(round, of_everybody(round, std::move(everybody)));
  return complete;
}

void Simulation::check_forecast(std::int64_t round, const std::vector<std::int64_t>& cohort,
                                const Centres& centres) {
  if (!has_budget(setup_.policy) || has_own_budgets(setup_.policy)) return;
  Ledger forecast = ledger_;
  std::set<std::int64_t> spent = spent_;
  foresee_round(round, cohort, centres, spent, forecast);
  try {
    check_budget(forecast);
  } catch (const BudgetSpent&) {
    // How far earlier answers moved the centres decided it.
    if (centres.vary() && round > 1) ledger_.withhold(Ledger::kEverybody);
    throw;
  }
}

Forecast Simulation::forecast() {
  Forecast told;
  if (unit(setup_.policy) == Unit::kNothing) return told;
  // How far centres will lie apart, nobody knows; where nothing bounds messages, no price depends on it.
  const Centres centres = opened(next_downlink()).centres;
  const auto* local = std::get_if<LocalPolicy>(&setup_.policy);
  const bool bounded = local != nullptr && local->clip_norm > 0 && local->mechanism != kLocalRelative;
  if (centres.vary() && bounded) return {.complete = false};
  const bool one_budget = has_budget(setup_.policy) && !has_own_budgets(setup_.policy);
  Ledger ledger = ledger_;
  std::set<std::int64_t> spent;
  for (std::int64_t round = 1; round <= setup_.rounds; ++round) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Ledger next = ledger;
    told.complete = foresee_round(round, known_cohort(round), centres, spent, next) && told.complete;
    if (one_budget && !within_budget(next)) break;
    ledger = std::move(next);
    told.rounds = round;
  }
  told.epsilon = odometer_.epsilon(ledger).epsilon;
  return told;
}

}  // namespace fedarena
