#pragma once

#include "fedarena/matching.hpp"

namespace fedarena {

/// A row that is shorter, relative to the whole gradient and absolutely, is rounding and has no direction:
/// that of a bias before a normalisation of each channel, say, whose derivative is zero. Its cosine would
/// have a slope of one over rounding.
inline double relative_rounding(const Params& gradient) {
  return gradient.flat().scalar_type() == torch::kFloat32 ? 1e-5 : 1e-13;
}
inline constexpr double kLeastLength = 1e-30;

/// matching_distance by operations on all rows of all parameters at once, some sixty instead of thirty for
/// each parameter: on a GPU each costs its launch, and there are few numbers. The same to rounding.
FEDARENA_API MatchingDistance matching_distance_by_rows(const Params& matched, const Params& target,
                                                        const GradientMatching& how);

}  // namespace fedarena
