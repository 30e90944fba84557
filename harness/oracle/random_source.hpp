#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fedarena/random.hpp"

namespace fedarena {

/// Where a mechanism's noise comes from, and the samples by which its privacy is amplified: batches of
/// examples, cohorts of clients. Amplification rests on nobody's knowing who was drawn, as noise does on
/// nobody's knowing it.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// Fills with independent standard normals.
  virtual void fill_normal(std::span<double> values) = 0;
  /// values[i] += deviation * a standard normal, where values are flat: the normals of fill_normal, scaled in
  /// double (single precision would round the deviation before it is used) and rounded to the values' type.
  /// The same bits on every device.
  virtual void add_normals(const torch::Tensor& values, double deviation);
  /// Gamma(shape, 1), shape >= 1.
  virtual double gamma(double shape) = 0;
  /// Uniform in [0, 1), a multiple of 2^-53.
  virtual double uniform() = 0;
  /// Of 0 .. size-1, each on its own with that probability; ascending.
  std::vector<std::int64_t> poisson_sample(std::int64_t size, double rate);
  /// `count` distinct values of 0 .. size-1, ascending; every subset is equally likely. Needs count <= size.
  virtual std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count) = 0;
};

/// The names that experiments use: "stream" is one of our named random streams, reproducible and known to
/// whoever knows the seed; "system" is the operating system's cryptographic generator, never the same twice.
inline constexpr const char* kStreamNoise = "stream";
inline constexpr const char* kSystemNoise = "system";

/// Of that name: `stream`, or the system's generator.
std::unique_ptr<RandomSource> make_random_source(const std::string& name, Stream stream);
/// The same for noise, whose stream is (streams, Purpose::kNoise, index).
std::unique_ptr<RandomSource> make_noise_source(const std::string& name, const Streams& streams,
                                                std::uint64_t index = 0);

}  // namespace fedarena
