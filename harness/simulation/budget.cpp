// What a run may still spend, and what it is charged for rounds that it leaves out: a privacy filter for the
// run as a whole (Lecuyer 2021), or one for each client that has a budget of its own.
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "harness/simulation/simulation.hpp"

namespace fedarena {
namespace {

// The last round's, which the next one is expected to repeat.
RoundAccesses last_accesses(const std::vector<Ledger::Segment>& segments) {
  return segments.empty() ? RoundAccesses() : RoundAccesses(segments.back().accesses);
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

// Saves the work of a round that is bound to be withheld: when all rounds so far, two or more, made the same
// accesses, so will the next one.
void Simulation::check_forecast(std::int64_t round, const std::vector<std::int64_t>& cohort) const {
  if (!has_budget(setup_.policy) || has_own_budgets(setup_.policy)) return;
  const auto same_again = [](const std::vector<Ledger::Segment>& segments) {
    const bool alike = segments.size() == 1 && segments.front().participations > 1;
    return alike ? &segments.front().accesses : nullptr;
  };
  Ledger forecast = ledger_;
  for (const std::int64_t client : cohort) {
    if (const auto* accesses = same_again(ledger_.clients().at(client).segments)) {
      forecast.record(round, client, RoundAccesses(*accesses));
    }
  }
  if (const auto* accesses = same_again(ledger_.population())) {
    forecast.record_population(round, RoundAccesses(*accesses));
  }
  check_budget(forecast);
}

void Simulation::check_budget(const Ledger& ledger) const {
  if (!has_budget(setup_.policy) || has_own_budgets(setup_.policy)) return;
  const double budget = accounting(setup_.policy)->budget.number();
  // Written so that what is unproven, or no number, counts as too much.
  const std::optional<double> epsilon = odometer_.epsilon(ledger).epsilon;
  if (epsilon && *epsilon <= budget) return;
  if (round_ > 0) throw BudgetSpent();
  throw Error(Complaint{
      .found = fmt::format("the budget of epsilon {} does not pay for a single round, which would cost {}",
                           budget, epsilon ? fmt::format("{}", *epsilon) : "what nobody can prove"),
      .remedy = "Raise noise_multiplier (`fedarena noise` says how far), train less in a round, or raise the "
                "budget"});
}

bool Simulation::pays(std::int64_t client, const std::vector<Ledger::Segment>& segments,
                      const std::vector<Access>& more) const {
  std::vector<Access> accesses = Ledger::accesses_of(segments);
  accesses.insert(accesses.end(), more.begin(), more.end());
  // Unproven is too much.
  const std::optional<double> epsilon = odometer_.epsilon(accesses).epsilon;
  return epsilon && *epsilon <= budget_of(setup_.policy, client);
}

bool Simulation::pays_again(std::int64_t client, const Ledger& ledger) const {
  const std::vector<Ledger::Segment>& segments = ledger.clients().at(client).segments;
  const bool alike = segments.size() == 1 && segments.front().participations > 1;
  return !alike || pays(client, segments, segments.front().accesses);
}

std::set<std::int64_t> Simulation::spent_so_far() const {
  std::set<std::int64_t> spent;
  if (!has_own_budgets(setup_.policy)) return spent;
  std::map<std::int64_t, std::int64_t> drawn;
  for (std::int64_t round = 1; round <= round_; ++round) {
    for (const std::int64_t client : cohort_of(round)) ++drawn[client];
  }
  for (const std::int64_t client : training_) {
    const std::int64_t took_part = Ledger::participations_of(ledger_.clients().at(client).segments);
    if (took_part < drawn[client] || !pays_again(client, ledger_)) spent.insert(client);
  }
  return spent;
}

void Simulation::leave_out_spent(std::vector<std::int64_t>& cohort, std::vector<LocalResult>& local,
                                 std::set<std::int64_t>& spent) const {
  if (!has_own_budgets(setup_.policy)) return;
  std::vector<std::int64_t> paying;
  std::vector<LocalResult> answers;
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    const std::int64_t client = cohort[index];
    if (pays(client, ledger_.clients().at(client).segments, local[index].accesses.list())) {
      paying.push_back(client);
      answers.push_back(std::move(local[index]));
    } else {
      spent.insert(client);
    }
  }
  cohort = std::move(paying);
  local = std::move(answers);
  if (spent.size() < training_.size()) return;
  if (round_ > 0) throw BudgetSpent();
  throw Error(Complaint{
      .found = "no client's budget pays for a single round",
      .remedy = "Raise noise_multiplier (`fedarena noise` says how far), train less in a round, or raise the "
                "budgets"});
}

std::map<std::int64_t, RoundAccesses> Simulation::accesses_to_come(const std::vector<std::int64_t>& clients) {
  std::map<std::int64_t, RoundAccesses> known;
  std::vector<std::int64_t> unknown;
  for (const std::int64_t client : clients) {
    const std::vector<Ledger::Segment>& past = ledger_.clients().at(client).segments;
    if (past.empty()) unknown.push_back(client);
    known[client] = last_accesses(past);
  }
  const Downlink downlink = opened(next_downlink());
  std::vector<RoundAccesses> found(unknown.size());
  setup_.pool.for_each(unknown.size(), [&](std::size_t index) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    found[index] = train_client(unknown[index], round_ + 1, downlink, nullptr).accesses;
  });
  for (std::size_t index = 0; index < unknown.size(); ++index) known[unknown[index]] = found[index];
  return known;
}

void Simulation::charge_rest() {
  if (unit(setup_.policy) == Unit::kNothing || has_budget(setup_.policy)) return;
  if (finished() || ledger_.ended_after() != 0) return;
  // Of cohorts that were never drawn nobody knows who is in them. The population is charged, whoever it was.
  const auto known_cohort = [&](std::int64_t round) {
    return draws_secret_cohorts() ? std::vector<std::int64_t>() : cohort_of(round);
  };
  std::set<std::int64_t> clients;
  for (std::int64_t round = round_ + 1; round <= setup_.rounds; ++round) {
    for (const std::int64_t client : known_cohort(round)) clients.insert(client);
  }
  const auto to_come = accesses_to_come({clients.begin(), clients.end()});
  const RoundAccesses population = last_accesses(ledger_.population());
  const RoundAccesses as_if = last_accesses(ledger_.as_if());
  ledger_.end_after(round_);
  for (std::int64_t round = round_ + 1; round <= setup_.rounds; ++round) {
    for (const std::int64_t client : known_cohort(round)) ledger_.record(round, client, to_come.at(client));
    // Of other units it holds what all are charged for once.
    if (ledger_.unit() == Unit::kClient) ledger_.record_population(round, population);
    if (!ledger_.as_if().empty()) ledger_.record_as_if(round, as_if);
  }
}

}  // namespace fedarena
