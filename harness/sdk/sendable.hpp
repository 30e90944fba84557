#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  // On a device of a plugin's own, its code would compute what the harness does with private numbers.
  if (!tensor.is_meta() && !tensor.device().is_cpu() && !tensor.device().is_cuda())
    return fmt::format("lies on the device {}; allowed: cpu or cuda", tensor.device().str());
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

/// Why the tensor cannot hold that many parameters side by side; empty where it can. Params hand out theirs,
/// which anybody may then give another shape or memory (`set_`, `unsqueeze_`), and kernels go by the model's.
inline std::string unlike_parameters(const torch::Tensor& flat, std::int64_t count) {
  if (std::string why = unsendable(flat); !why.empty()) return why;
  if (flat.dim() == 1 && flat.numel() == count && flat.is_contiguous() && !flat.is_neg()) return "";
  return fmt::format(
      "was given another shape or memory: [{}] in steps of [{}]; allowed: {} numbers side by side",
      fmt::join(flat.sizes(), ", "), fmt::join(flat.strides(), ", "), count);
}

/// The longest name of an entry of a message, in bytes.
inline constexpr std::size_t kLongestEntryName = 255;

/// Error where an entry of a message, called `what`, cannot have that name.
inline void check_name(const std::string& name, const std::string& what,
                       std::size_t longest = kLongestEntryName) {
  if (name.size() > longest)
    throw Error::of("{} has a name of {} characters, which begins \"{}\"; allowed: at most {}", what,
                    name.size(), name.substr(0, 20), longest);
}

/// Error where a message, called `what`, has entries that can be neither sent nor kept: by their names, or by
/// their tensors.
inline void check_entries(const Message& message, const std::string& what,
                          std::size_t longest_name = kLongestEntryName) {
  for (const Message::Entry& entry : message.entries()) {
    check_name(entry.name, what, longest_name);
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (const std::string why = tensor == nullptr ? "" : unsendable(*tensor); !why.empty())
      throw Error::of("\"{}\" in {} {}", entry.name, what, why);
    const auto same_name = [&](const Message::Entry& other) { return other.name == entry.name; };
    if (std::ranges::count_if(message.entries(), same_name) > 1)
      throw Error::of("the name \"{}\" stands twice in {}", entry.name, what);
  }
}

}  // namespace fedarena
