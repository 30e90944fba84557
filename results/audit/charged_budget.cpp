#include "results/audit/charged_budget.hpp"

#include <cmath>

namespace fedarena::results {

ChargedBudget::ChargedBudget(const PrivacyClaim& claim, const Ledger& ledger)
    : claim_(claim),
      ledger_(ledger),
      any_(claim.budget.least() > 0),
      all_varied_(any_ && !claim.budget.is_list() && ledger.varies()) {}

Claim ChargedBudget::charge(const Claim& spent, std::int64_t client) const {
  const bool unprotected = spent.epsilon && std::isinf(*spent.epsilon);
  if (!any_ || unprotected) return spent;
  const bool own = claim_.budget.is_list();
  Claim budget{.epsilon = own ? claim_.budget.of(client) : claim_.budget.number()};
  if (own ? ledger_.varies(client) : all_varied_) return budget;
  // Rounds that data left out are charged, but whatever came of them, the budget was not to be passed.
  const bool beyond = !spent.epsilon || *spent.epsilon > *budget.epsilon;
  return ledger_.ended_after() > 0 && beyond ? budget : spent;
}

Claim ChargedBudget::charge_all(const Claim& spent, std::span<const std::int64_t> clients) const {
  if (clients.empty() || !claim_.budget.is_list()) return charge(spent, 0);
  Claim worst{.epsilon = 0};
  for (const std::int64_t client : clients) worst = worse(worst, charge(spent, client));
  return worst;
}

}  // namespace fedarena::results
