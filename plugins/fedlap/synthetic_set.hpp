#pragma once

#include <cstdint>
#include <vector>

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace fedlap {

/// Entries of a client's message; `kRadius` where clients measure one, `kLow` and `kStep` of images as uint8.
inline constexpr fedarena::Key<torch::Tensor> kImages{"images"};  ///< [n, channels, height, width]
inline constexpr fedarena::Key<torch::Tensor> kLabels{"labels"};  ///< int64 [n]
inline constexpr fedarena::Key<std::int64_t> kExamples{"examples"};
inline constexpr fedarena::Key<double> kRadius{"radius"};
inline constexpr fedarena::Key<double> kLow{"low"};
inline constexpr fedarena::Key<double> kStep{"step"};

/// The set S_k that a client starts its round with: labels balanced over its classes and in ascending order,
/// images from last round, from its examples or of noise.
fedarena::Batch initial_set(const Config& config, fedarena::Client& client);

/// What a client sends: its set, encoded as configured, and N_k.
fedarena::Message encode_set(const Config& config, const fedarena::Client& client,
                             const fedarena::Batch& set);

/// The set of a client's message.
fedarena::Batch decode_set(const fedarena::Message& message, const torch::TensorOptions& options);

}  // namespace fedlap
