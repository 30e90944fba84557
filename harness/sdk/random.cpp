#include "fedarena/random.hpp"

#include <span>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

std::span<double> values_of(torch::Tensor& tensor) {
  return {tensor.data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

Stream Streams::operator()(Purpose purpose, std::uint64_t index) const {
  if (for_algorithm_ && purpose != Purpose::kSynthetic && purpose != Purpose::kAlgorithm) {
    throw Error(
        Complaint{.found = fmt::format("an algorithm asks for the random stream of purpose {}, which the "
                                       "harness draws from",
                                       static_cast<std::uint32_t>(purpose)),
                  .allowed = "Purpose::kAlgorithm, Purpose::kSynthetic"});
  }
  StreamName name = name_;
  name.purpose = purpose;
  name.index = index;
  if (purpose == Purpose::kNoise) name.seed ^= cell_;
  return Stream(name);
}

Streams Streams::in_round(std::int64_t round) const {
  Streams copy = *this;
  copy.name_.round = round;
  return copy;
}

Streams Streams::for_algorithm() const {
  Streams copy = *this;
  copy.for_algorithm_ = true;
  return copy;
}

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
