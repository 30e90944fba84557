#include "fedarena/accounting/odometer.hpp"

#include "accounting/rdp_reader.hpp"

namespace fedarena {

Odometer::Odometer(const AccountSettings& settings) : reader_(std::make_shared<RdpReader>(settings)) {}

Claim Odometer::epsilon(const Ledger& ledger) const { return reader_->read(ledger, false).claim; }

Claim Odometer::epsilon(const std::vector<Access>& accesses) const { return reader_->worth(accesses).claim; }

}  // namespace fedarena
