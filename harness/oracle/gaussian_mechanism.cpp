#include "harness/oracle/gaussian_mechanism.hpp"

#include <limits>
#include <utility>

#include "fedarena/base/error.hpp"

namespace fedarena {

namespace {

// With a margin for the rounding of this factor and of its products with numbers of that type.
double clip_factor(double norm, double clip_norm, torch::ScalarType type) {
  const double margin = type == torch::kFloat64 ? 0x1p-40 : 0x1p-19;
  return (1 - margin) * (clip_norm / norm);
}

// Whether the factor has all digits of the type: below, it may be rounded to twice itself.
bool is_normal(double factor, torch::ScalarType type) {
  return factor >= (type == torch::kFloat64 ? std::numeric_limits<double>::min()
                                            : static_cast<double>(std::numeric_limits<float>::min()));
}

// By a factor that is not normal in the vector's type. What is not in double either leaves nothing.
torch::Tensor scaled_in_double(const torch::Tensor& vector, double factor) {
  if (!is_normal(factor, torch::kFloat64)) return torch::zeros_like(vector);
  return vector.to(torch::kFloat64).mul_(factor).to(vector.scalar_type());
}

}  // namespace

void clip(const torch::Tensor& vector, double norm, double clip_norm) {
  const double factor = clip_factor(norm, clip_norm, vector.scalar_type());
  if (is_normal(factor, vector.scalar_type())) {
    vector.mul_(factor);
  } else {
    vector.copy_(scaled_in_double(vector, factor));
  }
}

void add_clipped(const torch::Tensor& sum, const torch::Tensor& vector, double norm, double clip_norm) {
  const double factor = clip_factor(norm, clip_norm, sum.scalar_type());
  if (is_normal(factor, sum.scalar_type())) {
    sum.add_(vector, factor);
  } else {
    sum.add_(scaled_in_double(vector, factor));
  }
}

GaussianRelease::GaussianRelease(SampledGaussian event, std::vector<double> clip_norms, RoundAccesses& book)
    : event_(std::move(event)), clip_norms_(std::move(clip_norms)) {
  FEDARENA_CHECK(event_.noise_multipliers.size(), ==, clip_norms_.size());
  book.add(event_);
}

GaussianRelease::GaussianRelease(Gaussian event, double clip_norm, RoundAccesses& book)
    : event_{.sampling = Sampling::kPoisson,
             .rate = 1,
             .noise_multipliers = {event.noise_multiplier},
             .adjacency = event.adjacency},
      clip_norms_{clip_norm} {
  book.add(event);
}

double GaussianRelease::deviation(std::size_t query) const {
  FEDARENA_CHECK(query, <, clip_norms_.size());
  const double noise_multiplier = event_.noise_multipliers[query];
  // Without noise the clip norm may be infinite.
  return noise_multiplier == 0 ? 0 : noise_multiplier * clip_norms_[query];
}

void GaussianRelease::noise(const torch::Tensor& sum, RandomSource& source, std::size_t query) const {
  source.add_normals(sum.view({-1}), deviation(query));
}

void GaussianRelease::noise(double& sum, RandomSource& source, std::size_t query) const {
  double value = 0;
  source.fill_normal({&value, 1});
  sum += deviation(query) * value;
}

}  // namespace fedarena
