#pragma once

#include <cstdint>

#include <torch/types.h>

namespace fedarena {

/// How many of these examples' inputs [n, ...] are, bit by bit, among others [m, ...].
std::int64_t count_known(const torch::Tensor& inputs, const torch::Tensor& others);

}  // namespace fedarena
