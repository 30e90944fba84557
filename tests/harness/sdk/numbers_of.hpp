#pragma once

#include <memory>
#include <vector>

#include "fedarena/params.hpp"

namespace fedarena {

/// The elements of a tensor of any type, in order.
inline std::vector<double> numbers_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

inline std::vector<double> numbers_of(const Params& params) { return numbers_of(params.flat()); }

/// A vector of parameters, in double precision.
inline Params vector_of(const std::vector<double>& values) {
  Layout layout;
  layout.add({static_cast<std::int64_t>(values.size())});
  return {std::make_shared<const Layout>(layout), torch::tensor(values, torch::kFloat64)};
}

}  // namespace fedarena
