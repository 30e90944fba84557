#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

namespace fedarena {

/// What a client's inputs are changed by; examples stay where they are.
struct ClientFeatures {
  double noise = 0;          ///< standard deviation of Gaussian noise, in units of inputs scaled to [0, 1]
  std::int64_t degrees = 0;  ///< counter-clockwise, a multiple of 90

  bool operator==(const ClientFeatures&) const = default;
};

/// How inputs differ from client to client, beside who holds which examples: settings of every partition.
///
/// Noise: Li, Diao, Chen, He 2022, noise-based feature imbalance, in the form of its code, NIID-Bench: client
/// i of n, from 0, adds noise of standard deviation noise * i / (n - 1) to every input, after it was scaled
/// to [0, 1] and before it is normalised, and does not clip. Differs from the paper, where noise * i / n is a
/// variance; from NIID-Bench, which draws noise anew at every reading: here an example is the same at every
/// reading. Rotations: Kairouz et al. 2021, "covariate shift", as rotated MNIST has it in clustered methods
/// (Ghosh et al. 2020): client i sees its images turned by entry i modulo the length of the list.
struct FeatureSkew {
  double noise = 0;                          ///< of the last client
  std::vector<std::int64_t> rotations = {};  ///< degrees; empty: none

  /// Whether inputs are changed at all.
  bool any() const;
  /// What client `client` of `clients` sees; noise needs at least two of them.
  ClientFeatures of(std::int64_t client, std::int64_t clients) const;
};

/// The feature skew among a partition's settings. Throws Error, with the reason, for settings out of range.
FeatureSkew feature_skew(const std::string& kind, const Settings& settings);

/// Throws Error where inputs of that shape ([channels, height, width], or anything else) cannot be skewed so,
/// or clients are too few.
void check_feature_skew(const FeatureSkew& skew, const std::vector<std::int64_t>& shape,
                        std::int64_t clients);

}  // namespace fedarena
