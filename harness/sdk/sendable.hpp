#pragma once

#include <array>
#include <string>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/message.hpp"

namespace fedarena {

/// Element types that a message may hold.
inline constexpr std::array kSendableTypes{torch::kFloat32, torch::kFloat64, torch::kInt64,
                                           torch::kInt32,   torch::kUInt8,   torch::kBool};

/// Why the tensor cannot be part of a message, such as "is of type Half; allowed: ..."; empty where it can.
inline std::string unsendable(const torch::Tensor& tensor) {
  constexpr std::int64_t kMostDimensions = 255;
  if (!tensor.defined()) return "is an undefined tensor; allowed: a tensor, which may be empty";
  if (tensor.is_meta() || tensor.is_sparse() || tensor.is_mkldnn() || tensor.is_quantized() ||
      tensor.is_nested() || tensor._is_zerotensor() || tensor.layout() != torch::kStrided)
    return "is a tensor without numbers of its own, or with a layout of them; allowed: a dense one";
  if (!contains(kSendableTypes, tensor.scalar_type())) {
    return fmt::format("is of type {}; allowed: float32, float64, int64, int32, uint8, bool",
                       torch::toString(tensor.scalar_type()));
  }
  if (tensor.dim() > kMostDimensions)
    return fmt::format("has {} dimensions; allowed: at most {}", tensor.dim(), kMostDimensions);
  return "";
}

}  // namespace fedarena
