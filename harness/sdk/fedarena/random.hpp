#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {

/// The random streams of one client (or the server) in one round: `streams(Purpose::kSynthetic)`. The same
/// name gives the same numbers, whoever asks and whenever.
class FEDARENA_API Streams {
 public:
  /// `cell` names the run among all that share the seed. Only noise depends on it: if two runs on the same
  /// examples added the same noise, the difference of what they publish would have none.
  Streams(std::uint64_t seed, std::int64_t round, std::int64_t client, std::uint64_t cell = 0)
      : name_{seed, round, client, {}, 0}, cell_(cell) {}
  /// Error when the purpose is the harness's own and these are an algorithm's streams.
  Stream operator()(Purpose purpose, std::uint64_t index = 0) const;
  /// Those of the same client in another round; 0 for what is drawn once.
  Streams in_round(std::int64_t round) const;
  /// The same streams as algorithms get them: kSynthetic and kAlgorithm only. Whoever could draw the batches
  /// or the noise of a mechanism again could take its protection off.
  Streams for_algorithm() const;

 private:
  StreamName name_;
  std::uint64_t cell_;
  bool for_algorithm_ = false;
};

/// Independent standard normals, float64 on the CPU.
FEDARENA_API torch::Tensor normal(Stream& stream, const std::vector<std::int64_t>& shape);
/// Independent uniforms in [low, high), float64 on the CPU.
FEDARENA_API torch::Tensor uniform(Stream& stream, const std::vector<std::int64_t>& shape, double low,
                                   double high);

}  // namespace fedarena
