#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
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

/// Error where a message, called `what`, has entries that can be neither sent nor kept: by their names, or by
/// their tensors.
inline void check_entries(const Message& message, const std::string& what, std::size_t longest_name = 255) {
  for (const Message::Entry& entry : message.entries()) {
    if (entry.name.size() > longest_name) {
      throw Error::of("{} has a name of {} characters, which begins \"{}\"; allowed: at most {}", what,
                      entry.name.size(), entry.name.substr(0, 20), longest_name);
    }
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (const std::string why = tensor == nullptr ? "" : unsendable(*tensor); !why.empty())
      throw Error::of("\"{}\" in {} {}", entry.name, what, why);
    const auto same_name = [&](const Message::Entry& other) { return other.name == entry.name; };
    if (std::ranges::count_if(message.entries(), same_name) > 1)
      throw Error::of("the name \"{}\" stands twice in {}", entry.name, what);
  }
}

}  // namespace fedarena
