#include "partitions/feature_skew.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

bool turns(const FeatureSkew& skew) {
  return std::ranges::any_of(skew.rotations, [](std::int64_t degrees) { return degrees != 0; });
}

}  // namespace

bool FeatureSkew::any() const { return noise > 0 || turns(*this); }

ClientFeatures FeatureSkew::of(std::int64_t client, std::int64_t clients) const {
  ClientFeatures features;
  if (noise > 0) {
    FEDARENA_CHECK(clients, >=, 2);
    features.noise = noise * static_cast<double>(client) / static_cast<double>(clients - 1);
  }
  if (!rotations.empty()) features.degrees = rotations[static_cast<std::size_t>(client) % rotations.size()];
  return features;
}

FeatureSkew feature_skew(const std::string& kind, const Settings& settings) {
  const Dealing dealing = dealing_of(kind, settings);
  return {.noise = dealing.noise, .rotations = dealing.rotations};
}

void check_feature_skew(const FeatureSkew& skew, const std::vector<std::int64_t>& shape,
                        std::int64_t clients) {
  if (skew.noise > 0 && clients < 2) {
    reject_request(
        fmt::format("noise is {} and there is one client, the first, which has none", to_text(skew.noise)),
        "raise clients, or set noise to 0");
  }
  if (!turns(skew) || (shape.size() == 3 && shape[1] == shape[2])) return;
  throw Error(Complaint{.found = fmt::format("rotations turn square images, but inputs are of shape [{}]",
                                             fmt::join(shape, ", ")),
                        .allowed = "[channels, height, width] with equal height and width",
                        .remedy = "leave rotations out, or choose another data set"});
}

}  // namespace fedarena
