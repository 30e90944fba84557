#pragma once

#include <memory>
#include <span>
#include <string>

#include "fedarena/random.hpp"

namespace fedarena {

/// Where the noise of a mechanism comes from.
class NoiseSource {
 public:
  virtual ~NoiseSource() = default;
  /// Fills with independent standard normals.
  virtual void fill_normal(std::span<double> values) = 0;
  /// Gamma(shape, 1), shape >= 1.
  virtual double gamma(double shape) = 0;
  /// Uniform in [0, 1), a multiple of 2^-53.
  virtual double uniform() = 0;
};

/// The names that experiments use: "stream" is one of our named random streams, reproducible and known to
/// whoever knows the seed; "system" is the operating system's cryptographic generator, never the same twice.
inline constexpr const char* kStreamNoise = "stream";
inline constexpr const char* kSystemNoise = "system";

/// A source of that name; the stream's name is (streams, Purpose::kNoise, index).
std::unique_ptr<NoiseSource> make_noise_source(const std::string& name, const Streams& streams,
                                               std::uint64_t index = 0);

}  // namespace fedarena
