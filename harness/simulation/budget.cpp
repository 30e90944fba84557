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

void Simulation::check_next_round() {
  if (round_ == 0) check_label_counts();
  std::vector<std::int64_t> cohort = cohort_of(round_ + 1);
  const Centres centres = opened(next_downlink()).centres;
  check_forecast(round_ + 1, cohort, centres);
  if (round_ == 0) check_anybody_pays(centres);
  std::set<std::int64_t> spent = spent_;
  Ledger ledger = ledger_;
  try {
    leave_out_unpaid(cohort, centres, spent, ledger);
  } catch (const BudgetSpent&) {
    ledger_ = std::move(ledger);  // of whom the round was withheld
    throw;
  }
}

void Simulation::check_anybody_pays(const Centres& centres) const {
  if (!has_own_budgets(setup_.policy) || centres.vary()) return;
  std::set<std::int64_t> drawn;
  std::optional<double> cost;
  for (std::int64_t round = 1; round <= setup_.rounds; ++round) {
    for (const std::int64_t client : cohort_of(round)) {
      const auto accesses = planned_accesses(client, round, ledger_, centres);
      if (!accesses || pays(client, ledger_, *accesses)) return;
      drawn.insert(client);
      cost = odometer_.epsilon(accesses->charged()).epsilon;
    }
  }
  if (!drawn.empty()) refuse_unpaid(drawn.size() == training_.size(), cost);
}

void Simulation::leave_out_unpaid(std::vector<std::int64_t>& cohort, const Centres& centres,
                                  std::set<std::int64_t>& spent, Ledger& ledger) const {
  const auto planned = [&](std::size_t place) {
    return planned_accesses(cohort[place], round_ + 1, ledger_, centres);
  };
  // Where centres lie, and so what they make of the price, earlier answers have decided.
  const bool moved = centres.vary() && round_ > 0;
  leave_out_spent(cohort, planned, moved ? Known::kAnswered : Known::kPlanned, spent, ledger);
}

bool Simulation::within_budget(const Ledger& ledger) const {
  const std::optional<double> epsilon = odometer_.epsilon(ledger).epsilon;
  return epsilon && *epsilon <= accounting(setup_.policy).budget.number();
}

void Simulation::check_budget(const Ledger& ledger) const {
  if (!has_budget(setup_.policy) || has_own_budgets(setup_.policy) || within_budget(ledger)) return;
  if (round_ > 0) throw BudgetSpent();
  refuse_another_first_round();
  const double budget = accounting(setup_.policy).budget.number();
  const std::optional<double> epsilon = odometer_.epsilon(ledger).epsilon;
  throw Error(Complaint{
      .found = fmt::format("the budget of epsilon {} does not pay for a single round, which would cost {}",
                           budget, epsilon ? fmt::format("{}", *epsilon) : "what nobody can prove"),
      .remedy = remedy_for(epsilon)});
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

bool Simulation::pays(std::int64_t client, const Ledger& ledger, const RoundAccesses& round) const {
  return !has_own_budgets(setup_.policy) ||
         pays(client, Ledger::charged_of(ledger.clients().at(client).segments), round.charged());
}

bool Simulation::pays_again(std::int64_t client, const Ledger& ledger) const {
  const auto again = same_again(ledger.clients().at(client).segments);
  return !again || pays(client, ledger, *again);
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
                                                     const AccessesOf& accesses_of, Known known,
                                                     std::set<std::int64_t>& spent, Ledger& ledger) const {
  std::vector<std::size_t> places;
  std::vector<std::int64_t> paying;
  std::optional<double> cost = 0;  // of who cannot pay, which a round without anybody does not tell
  for (std::size_t place = 0; place < cohort.size(); ++place) {
    const std::int64_t client = cohort[place];
    const auto accesses = has_own_budgets(setup_.policy) ? accesses_of(place) : std::nullopt;
    if (!accesses || pays(client, ledger_, *accesses)) {
      places.push_back(place);
      paying.push_back(client);
      continue;
    }
    spent.insert(client);
    cost = odometer_.epsilon(accesses->charged()).epsilon;
    // Its answers may have decided what else was asked for, and so whether the budget pays for it.
    if (known == Known::kAnswered) ledger.withhold(client);
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
  refuse_unpaid(nobody_is_left, cost);
}

// Where nobody ever trained, the run would end in the model that it began with.
void Simulation::refuse_unpaid(bool all_drawn, std::optional<double> cost) const {
  refuse_another_first_round();
  if (all_drawn)
    throw Error(Complaint{.found = "no client's budget pays for a single round", .remedy = remedy_for(cost)});
  throw Error(
      Complaint{.found = fmt::format("seed {} draws no client in {} whose budget pays for a single one",
                                     setup_.seed, counted(setup_.rounds, "round")),
                .remedy = fmt::format("Draw larger cohorts, or leave this seed out. {}", remedy_for(cost))});
}

}  // namespace fedarena
