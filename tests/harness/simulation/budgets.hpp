#pragma once

#include <cstdint>
#include <vector>

#include "fedarena/base/overload.hpp"

#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {

inline PrivacyPolicy with_budget(PrivacyPolicy policy, const PerClient& budget) {
  std::visit(Overload{[](NoPolicy&) {}, [&](auto& chosen) { chosen.budget = budget; }}, policy);
  return policy;
}

class Budgets : public PrivateRuns {
 protected:
  SimulationSetup everyone(const PrivacyPolicy& policy) const { return setup_on(pool, 6, 4, policy); }
  /// Epsilon after each round of a run without a limit, by an odometer of its own.
  std::vector<double> epsilons(const PrivacyPolicy& policy) const {
    Simulation simulation(setup(policy));
    std::vector<double> after;
    while (!simulation.finished()) {
      simulation.next_round();
      after.push_back(odometer_reading(simulation.ledger()).value());
    }
    return after;
  }
  /// Runs to the end or until the budget is spent.
  static std::int64_t rounds_of(Simulation& simulation) {
    try {
      while (!simulation.finished()) simulation.next_round();
    } catch (const BudgetSpent&) {
      EXPECT_FALSE(simulation.finished());
    }
    return simulation.rounds_done();
  }
};

}  // namespace fedarena
