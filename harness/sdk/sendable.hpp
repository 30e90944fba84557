#pragma once

#include <array>
#include <string>

#include "fedarena/message.hpp"

namespace fedarena {

/// Element types that a message may hold.
inline constexpr std::array kSendableTypes{torch::kFloat32, torch::kFloat64, torch::kInt64,
                                           torch::kInt32,   torch::kUInt8,   torch::kBool};

/// Why the tensor cannot be part of a message, such as "is of type Half; allowed: ..."; empty where it can.
FEDARENA_API std::string unsendable(const torch::Tensor& tensor);

}  // namespace fedarena
