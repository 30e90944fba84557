#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {

/// The random streams of one client (or the server) in one round: `streams(Purpose::kSynthetic)`. The same
/// name gives the same numbers, whoever asks and whenever.
class FEDARENA_API Streams {
 public:
  Streams(std::uint64_t seed, std::int64_t round, std::int64_t client) : name_{seed, round, client, {}, 0} {}
  Stream operator()(Purpose purpose, std::uint64_t index = 0) const {
    StreamName name = name_;
    name.purpose = purpose;
    name.index = index;
    return Stream(name);
  }

 private:
  StreamName name_;
};

/// Independent standard normals, float64 on the CPU.
FEDARENA_API torch::Tensor normal(Stream& stream, const std::vector<std::int64_t>& shape);
/// Independent uniforms in [low, high), float64 on the CPU.
FEDARENA_API torch::Tensor uniform(Stream& stream, const std::vector<std::int64_t>& shape, double low,
                                   double high);

}  // namespace fedarena
