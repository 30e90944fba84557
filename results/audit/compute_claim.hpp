#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/ledger.hpp"

#include "results/record/record.hpp"

namespace fedarena::results {

/// What is claimed where a budget governs a run. What was spent of it is an epsilon as far as a plan said so
/// before. Where data may have decided what is asked for, that is what a filter with the budget proves
/// (epsilon_of_filter), not what data left of it. Where a rule ended the run, it is no more than the budget.
/// Claim and ledger must outlive it.
class ChargedBudget {
 public:
  ChargedBudget(const PrivacyClaim& claim, const Ledger& ledger);

  /// The claim about a client's units that have spent so much; of a budget for all, any client.
  Claim charge(const Claim& spent, std::int64_t client) const;

 private:
  const PrivacyClaim& claim_;
  const Ledger& ledger_;
  bool any_ = false;                 // whether there is a budget
  bool all_varied_ = false;          // of one budget for all: whether data may have decided how much is spent
  std::map<double, double> proven_;  // by each budget as a filter, where anybody's accesses varied
};

/// What is charged of a ledger. Of a run with one budget for all which data ended: without the planned rounds
/// that the budget would not have paid for, since there the run would have ended in any case. Of rounds that
/// nobody planned all are charged, and of any other run the whole ledger.
Ledger paid_part(const PrivacyClaim& claim, const Ledger& ledger);

/// Whether noised answers about single examples came without a plan: of that client, or of any.
bool has_unplanned_answers(const Ledger& ledger, std::optional<std::int64_t> client);

/// What is declared public, for the run or of an access, each once, in alphabetical order.
std::vector<std::string> public_data(const Ledger& ledger);

/// What a run claims as far as it is: its summary's claim, and before its end with the units and the public
/// data of its ledger, once there is one, which no epsilon is computed from. A broken ledger is an Error.
std::optional<PrivacyClaim> claim_so_far(const Summary& summary, const std::filesystem::path& run);

/// Puts the policy into the summary of a run that is to begin, with the settings by which its epsilon will be
/// computed, its budget (0 for none), and whether noise or budgets are lists. Under the policy "none" the
/// rest means nothing and is left out.
void plan_privacy(Summary& summary, const std::string& policy, const AccountSettings& settings,
                  PerClient budget, bool per_client = false);

/// Puts into the summary what the ledger is worth, computed by the settings that the summary holds; changes
/// nothing under the policy "none". The same ledger gives the same claim, so that a record can be verified.
/// An invalid setting or event is an Error.
void compute_claim(Summary& summary, const Ledger& ledger);

}  // namespace fedarena::results
