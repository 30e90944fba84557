#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena {

/// How epsilon is computed from a ledger.
struct FEDARENA_API AccountSettings {
  double delta = 1e-5;
  std::string orders = "default";    ///< of RDP: see rdp_orders
  std::string conversion = "balle";  ///< of RDP: "balle" or "classic"
  /// "poisson": sampling of a fixed size is accounted as if it were Poisson sampling, which nobody has proven
  /// to be right. "nothing": nothing is assumed.
  std::string assume = "nothing";
  bool operator==(const AccountSettings&) const = default;
};

/// An epsilon, or why there is none.
struct FEDARENA_API Claim {
  std::optional<double> epsilon = {};  ///< an upper bound; infinity where an access was exact
  std::string unproven = {};  ///< when there is no epsilon: which event no known bound covers, and why
  bool operator==(const Claim&) const = default;
};

/// What two claims are worth together, each about units that the other does not hold (parallel composition):
/// infinite if one is, else unproven if one is, else the larger epsilon.
FEDARENA_API const Claim& worse(const Claim& left, const Claim& right);

/// Epsilon of one client's units.
struct FEDARENA_API ClientAccount {
  std::int64_t client = 0;
  Claim rdp;
  double order = 0;  ///< the best order of RDP; 0 without an epsilon
  bool operator==(const ClientAccount&) const = default;
};

/// What a run may claim: the largest epsilon over its clients, who hold disjoint data (parallel composition).
struct FEDARENA_API Account {
  Unit unit = Unit::kNothing;
  std::optional<Adjacency> adjacency;  ///< of the claim; none when nothing was privatised
  Claim rdp;
  Claim pld;
  std::optional<Claim>
      as_if_rdp;  ///< of the population that the run stands for; none when it stands for itself
  std::optional<Claim> as_if_pld;
  /// What distance 1 between neighbours costs: the largest over clients; see per_distance.
  std::optional<double> per_distance;
  std::map<std::string, double> nominal;  ///< the largest over clients of each nominal sum
  std::vector<ClientAccount> clients;     ///< ascending; one for all (client -1) when clients are the unit
};

/// The accesses as accountants are to read them: changed where `settings.assume` asks for it. Throws Error
/// for an unknown assumption.
FEDARENA_API std::vector<Access> as_assumed(std::vector<Access> accesses, const AccountSettings& settings);

/// Computes what a ledger is worth. Throws Error when the ledger or the settings are invalid. A ledger that
/// mixes adjacencies is unproven. Clients with equal accesses are computed once, and PLD only as far as the
/// maximum needs it.
FEDARENA_API Account account(const Ledger& ledger, const AccountSettings& settings);

/// PLD epsilon of one client's units.
FEDARENA_API Claim pld_claim(const std::vector<Access>& accesses, const AccountSettings& settings);

/// What a filter with that budget proves where data may decide what is asked for next; see epsilon_of_filter.
FEDARENA_API double epsilon_of_filter(double budget, const AccountSettings& settings);

}  // namespace fedarena
