#include "harness/oracle/gaussian_mechanism.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fedarena/base/error.hpp"

#include "harness/oracle/cache_pieces.hpp"

namespace fedarena {

double clip_factor(double norm, double clip_norm, torch::ScalarType type) {
  const double margin = type == torch::kFloat64 ? 0x1p-40 : 0x1p-19;
  return (1 - margin) * (clip_norm / norm);
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
