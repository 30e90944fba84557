#include "fedarena/random.hpp"

#include <span>

namespace fedarena {
namespace {

std::span<double> values_of(torch::Tensor& tensor) {
  return {tensor.data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

torch::Tensor normal(Stream& stream, const std::vector<std::int64_t>& shape) {
  torch::Tensor result = torch::empty(shape, torch::kFloat64);
  stream.fill_normal(values_of(result));
  return result;
}

torch::Tensor uniform(Stream& stream, const std::vector<std::int64_t>& shape, double low, double high) {
  torch::Tensor result = torch::empty(shape, torch::kFloat64);
  for (double& value : values_of(result)) value = low + (high - low) * stream.uniform();
  return result;
}

}  // namespace fedarena
