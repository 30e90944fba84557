#pragma once

#include <cstdint>
#include <optional>

#include "fedarena/accounting/ledger.hpp"

namespace fedarena::results {

/// The ledger as it would be had every client made `most` noised accesses in each round that it took part in,
/// as papers account for methods that may stop a round early (Wang et al., PoPETs 2024(3), Section 6.3). What
/// is missing in a round is of the kind that the client made most often in it. None where nothing is missing,
/// where `most` is 0 or where records are not what the ledger protects.
std::optional<Ledger> worst_case(const Ledger& ledger, std::int64_t most);

}  // namespace fedarena::results
