#include "harness/oracle/laplace_mechanism.hpp"

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

const char* const kUnprotected = "messages";

}  // namespace

LaplaceRelease LaplaceRelease::bounded(std::int64_t dimension, double scale, double distance,
                                       RoundAccesses& book) {
  if (scale > 0) {
    book.add(Laplace{dimension, distance / scale});
  } else {
    book.add(ExactAccess{kUnprotected});
  }
  return {dimension, scale};
}

LaplaceRelease LaplaceRelease::metric(std::int64_t dimension, double scale, RoundAccesses& book) {
  if (scale > 0) {
    book.add(MetricLaplace{dimension, scale});
  } else {
    book.add(ExactAccess{kUnprotected});
  }
  return {dimension, scale};
}

LaplaceRelease LaplaceRelease::relative(std::int64_t dimension, double factor, double norm,
                                        RoundAccesses& book) {
  const auto n = static_cast<double>(dimension);
  book.add(ExactAccess{"messages, under noise scaled by their own norm"});
  if (factor > 0) book.add(Nominal{"n/nu", n / factor});
  return {dimension, factor * norm / n};
}

void LaplaceRelease::noise(const torch::Tensor& sum, NoiseSource& source) const {
  FEDARENA_CHECK(sum.numel(), ==, dimension_);
  if (scale_ == 0) return;
  torch::Tensor values = torch::empty(sum.sizes(), torch::kFloat64);
  source.fill_normal({values.data_ptr<double>(), static_cast<std::size_t>(dimension_)});
  const double radius = scale_ * source.gamma(static_cast<double>(dimension_));
  const double length = values.norm().item<double>();
  // Scaled in double: a float would round the radius before it is used.
  sum.add_(values.mul_(radius / length).to(sum.options()));
}

}  // namespace fedarena
