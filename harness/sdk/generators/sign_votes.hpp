#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/base/export.hpp"

namespace fedarena::generators {

/// What a teacher says of each image (Wang et al., "DataLens", CCS 2021, Algorithms 2 and 3): signs of its k
/// largest slopes by magnitude, zeros elsewhere. The sign of slope g is +1 with probability 1/2 + g / 2b,
/// where b is the image's largest |g|, at most `scale`; slopes beyond b have their own sign.
/// `slopes`: [n, pixels]; `draws`: uniforms in [0, 1), [n, k], used from the largest slope on.
FEDARENA_API torch::Tensor top_signs(const torch::Tensor& slopes, double scale, const torch::Tensor& draws);

/// +1 where the votes of so many voters sum to more than that share of them, -1 where to less than minus it,
/// else 0.
FEDARENA_API torch::Tensor crossings(const torch::Tensor& votes, std::int64_t voters, double share);

}  // namespace fedarena::generators
