#pragma once

#include <span>
#include <vector>

namespace fedarena::results {

/// The p values of several tests, adjusted as Holm (1979) does: rejecting what is at most `a` rejects any
/// true hypothesis with probability at most `a`, however the tests depend on each other. In the order of the
/// input.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace fedarena::results
