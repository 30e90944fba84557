// What a run is going to be charged, as far as that can be told before anybody works.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "harness/oracle/private_uplink.hpp"
#include "harness/simulation/simulation.hpp"

namespace fedarena {

std::optional<RoundAccesses> Simulation::foreseen_accesses(std::int64_t client, std::int64_t round,
                                                           const Ledger& before,
                                                           MessageCosts& messages) const {
  const auto* local = std::get_if<LocalPolicy>(&setup_.policy);
  if (local == nullptr) return planned_accesses(client, round, before);
  // A message costs the same whatever is in it and whoever sends it, and making one takes time.
  const std::vector<UplinkEntry>& entries = uplinks_.at(static_cast<std::size_t>(round));
  const auto vectors = std::ranges::count(entries, false, &UplinkEntry::counts_examples);
  const auto [known, is_new] = messages.try_emplace({local->noise_multiplier.of(client), vectors});
  if (is_new) known->second = message_accesses(*local, client, round);
  return known->second;
}

bool Simulation::foresee_round(std::int64_t round, std::set<std::int64_t>& spent, MessageCosts& messages,
                               Ledger& ledger) const {
  const Unit hidden = unit(setup_.policy);
  bool complete = true;
  for (const std::int64_t client :
       hidden == Unit::kRecord || hidden == Unit::kLocal ? cohort_of(round) : std::vector<std::int64_t>()) {
    if (spent.contains(client)) continue;
    const std::optional<RoundAccesses> accesses = foreseen_accesses(client, round, ledger, messages);
    if (!accesses) {
      complete = false;
    } else if (has_own_budgets(setup_.policy) &&
               !pays(client, Ledger::charged_of(ledger.clients().at(client).segments), accesses->charged())) {
      spent.insert(client);
    } else {
      ledger.record(round, client, *accesses);
    }
  }
  std::vector<Access> everybody;
  if (const auto* clients = std::get_if<ClientPolicy>(&setup_.policy))
    everybody = sum_of(*clients, round).accesses().list();
  if (round == 1) add_to_first_round(everybody);
  if (hidden == Unit::kClient || !everybody.empty())
    ledger.record_population(round, RoundAccesses(std::move(everybody)));
  return complete;
}

Forecast Simulation::forecast() {
  Forecast told;
  if (unit(setup_.policy) == Unit::kNothing) return told;
  // How far centres will lie apart, nobody knows.
  if (opened(next_downlink()).centres.vary()) return {.complete = false};
  const bool one_budget = has_budget(setup_.policy) && !has_own_budgets(setup_.policy);
  Ledger ledger = ledger_;
  std::set<std::int64_t> spent;
  MessageCosts messages;
  for (std::int64_t round = 1; round <= setup_.rounds; ++round) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Ledger next = ledger;
    told.complete = foresee_round(round, spent, messages, next) && told.complete;
    if (one_budget && !within_budget(next)) break;
    ledger = std::move(next);
    told.rounds = round;
  }
  told.epsilon = odometer_.epsilon(ledger).epsilon;
  return told;
}

}  // namespace fedarena
