#pragma once

#include <string>

#include "fedarena/accounting/ledger.hpp"

#include "results/record/record.hpp"

namespace fedarena::results {

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
