#pragma once

#include <cmath>
#include <limits>

#include <torch/types.h>

namespace fedarena {

/// A factor of numbers of that type: what they cannot hold is infinite, as it is where numbers become so
/// large, and no error of LibTorch's.
inline double within(double factor, const torch::Tensor& numbers) {
  const bool is_beyond = numbers.scalar_type() == torch::kFloat32 && std::isinf(static_cast<float>(factor));
  return is_beyond ? std::copysign(std::numeric_limits<double>::infinity(), factor) : factor;
}

}  // namespace fedarena
