#pragma once

#include <cstdint>
#include <string>

#include "datasets/dataset.hpp"

namespace fedarena {

/// The SHA-256 of the examples of all parts, in order: inputs and targets with their shapes and types, and
/// whose each example is, with the means and deviations of columns that were scaled by them. Data sets of
/// equal hashes train and test the same, in the same units, whatever files they were read from. `proxy`:
/// inputs that are used beside them; undefined where there are none.
std::string data_hash(const Dataset& dataset, const torch::Tensor& proxy = {});

/// How many of these examples' inputs [n, ...] are, bit by bit, among others [m, ...].
std::int64_t count_known(const torch::Tensor& inputs, const torch::Tensor& others);

}  // namespace fedarena
