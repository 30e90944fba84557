#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fedarena/base/stream.hpp"

namespace fedarena {

/// Where the samples come from by which a mechanism's privacy is amplified: batches of examples, cohorts of
/// clients. Amplification rests on nobody's knowing who was drawn, as noise does on nobody's knowing it.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// Uniform in [0, 1), a multiple of 2^-53.
  virtual double uniform() = 0;
  /// `count` distinct values of 0 .. size-1, ascending; every subset is equally likely. Needs count <= size.
  virtual std::vector<std::int64_t> sample_without_replacement(std::int64_t size, std::int64_t count) = 0;
};

/// Of a `noise_source` (noise_source.hpp): that stream, or the operating system's generator, which never
/// gives the same twice.
std::unique_ptr<SampleSource> make_sample_source(const std::string& noise_source, Stream stream);

}  // namespace fedarena
