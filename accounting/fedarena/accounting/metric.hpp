#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// What metric privacy claims for each unit of distance: two sequences of answers that lie within d of each
/// other, access by access, are told apart by at most d times this, the sum of 1 / scale (pure composition).
/// None where nothing is metric, or where an access is of another kind that costs something: then no distance
/// makes an epsilon of it alone.
FEDARENA_API std::optional<double> per_distance(const std::vector<Access>& accesses);

/// What papers call the privacy of these accesses: of each name the sum of its values, or
/// the largest where each access is about other data.
FEDARENA_API std::map<std::string, double> nominal_sums(const std::vector<Access>& accesses);

/// What papers call the privacy of randomised labels that no example has.
inline constexpr const char* kSyntheticLabels = "label epsilon of synthetic images";

/// What accountants answer to a metric access.
inline constexpr const char* kNoDistance = "metric privacy has no epsilon without a distance";

}  // namespace fedarena
