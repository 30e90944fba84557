#pragma once

#include <map>
#include <set>
#include <vector>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/rdp.hpp"

namespace fedarena {

/// What one list of accesses is worth by RDP.
struct RdpWorth {
  Claim claim;
  double order = 0;  ///< the best one; 0 without a finite epsilon
};

/// A ledger as the RDP accountant reads it.
struct RdpReading {
  Claim claim;  ///< of the whole run
  std::set<Adjacency> adjacencies;
  std::vector<ClientAccount> clients;
  /// The worth of every distinct list of accesses: clients with equal accesses share one.
  std::map<std::vector<Access>, RdpWorth> worths;
};

/// Reads ledgers under fixed settings; keeps the curves of the events it has met.
class RdpReader {
 public:
  /// Throws Error for settings that no accountant knows.
  explicit RdpReader(const AccountSettings& settings);
  /// Without `each_client`, its `clients` are empty. Throws Error for an invalid event.
  RdpReading read(const Ledger& ledger, bool each_client = true) const;
  RdpWorth worth(const std::vector<Access>& happened) const;

 private:
  AccountSettings settings_;
  RdpAccountant nothing_spent_;  // its copies share the curves of events
  Conversion conversion_;
};

/// The claim that needs no accountant, if there is one: 0 of nothing, infinity of an exact access, none of a
/// mix of adjacencies. An exact access comes first: whatever else there is, infinity is true.
std::optional<Claim> plain_claim(const std::vector<Access>& accesses);

}  // namespace fedarena
