#pragma once

#include <memory>
#include <vector>

#include "fedarena/accounting/account.hpp"

namespace fedarena {

class RdpReader;

/// Reads the RDP epsilon of a growing ledger again and again: the curve of an event is computed when it is
/// first met. At any time it says what `account` says of the ledger.
class FEDARENA_API Odometer {
 public:
  /// Throws Error for settings that no accountant knows.
  explicit Odometer(const AccountSettings& settings);
  /// The run's epsilon so far.
  Claim epsilon(const Ledger& ledger) const;
  /// The epsilon of one unit that was asked for this.
  Claim epsilon(const std::vector<Access>& accesses) const { return worth(accesses).claim; }
  /// The same with the order of divergences that proves it, as RdpEpsilon has it; 0 without a finite epsilon.
  struct Worth {
    Claim claim;
    double order = 0;
  };
  Worth worth(const std::vector<Access>& accesses) const;

 private:
  std::shared_ptr<const RdpReader> reader_;
};

}  // namespace fedarena
