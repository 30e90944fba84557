#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/odometer.hpp"

#include "results/audit/ledger_findings.hpp"
#include "results/record/record.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {

/// All accesses of one kind to the data of one unit.
struct EventShare {
  Event event;
  std::int64_t count = 0;
  double part = 0;  ///< of the whole Rényi divergence (or pure epsilon) that decides epsilon, from 0 to 1;
                    ///< infinity for what alone makes epsilon infinite; nan where there is no epsilon, or a
                    ///< budget is charged
};

/// Clients to whose data the same happened.
struct ClientGroup {
  std::vector<std::int64_t> clients;  ///< ascending; empty for all at once, where clients are the unit
  std::int64_t examples_least = 0, examples_most = 0;
  std::int64_t rounds = 0;   ///< in which they took part
  std::optional<Claim> rdp;  ///< none under the policy "none"
  double order = 0;          ///< that decides it; infinity: the sum of pure epsilons does
  bool by_budget = false;    ///< whether their budget is charged, whatever the events cost
  std::vector<EventShare> events;
};

/// Why a run's epsilon is what it is.
struct PrivacyReport {
  std::filesystem::path path;
  Summary
      summary;  ///< with the claim of the ledger and the rounds on disk, also of a run that is not finished
  std::string plugin = {};  ///< that registered the algorithm; empty where the run did not record it
  std::vector<ClientGroup> groups = {};
  std::vector<ExactFinding> exact = {};  ///< by client and round; under a policy that promises privacy only
  bool keeps = false;  ///< whether clients made accesses for models of their own, which nothing charges
};

/// Reads a run and computes its claim from its ledger. Throws Error when a record is broken, or when there is
/// no ledger yet.
PrivacyReport privacy_report(const RunDirectory& run);

/// What happened to the clients of a ledger, without epsilons. Those with budgets of their own are of one
/// group only where the same is charged for both.
std::vector<ClientGroup> client_groups(const Ledger& ledger, const PerClient& budgets);

/// Gives them the epsilons of RDP that the claim charges for them, each with its order. `ledger`: the run's,
/// as paid_part leaves it.
void charge_groups(std::span<ClientGroup> groups, const PrivacyClaim& claim, const Ledger& ledger,
                   const Odometer& odometer);

/// The clients of a group: "0-4, 7", a long list cut short, or "all".
std::string clients_text(const ClientGroup& group);

/// For a terminal.
std::string render_text(const PrivacyReport& report);

/// One JSON object.
std::string render_json(const PrivacyReport& report);

}  // namespace fedarena::results
