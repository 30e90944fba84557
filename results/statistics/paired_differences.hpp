#pragma once

#include <span>
#include <vector>

namespace fedarena::results {

/// left[i] - right[i] for finite values, rounded to a multiple of 2^-40 of the largest one: what is equal in
/// decimals (0.3 - 0.1 and 0.4 - 0.2) is equal here, so that ties and the lack of any spread are seen,
/// and sums of differences are exact. As many values on the left as on the right.
std::vector<double> paired_differences(std::span<const double> left, std::span<const double> right);

}  // namespace fedarena::results
