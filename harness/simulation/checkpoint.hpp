#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedarena/model.hpp"

#include "harness/simulation/client_states.hpp"
#include "harness/wire/wire.hpp"

namespace fedarena {

/// What a run needs to continue after a round.
struct Checkpoint {
  std::int64_t round = 0;
  Params params;
  Message server_state;
  ClientStates::Content client_states = {};
  double clip_norm = 0;          ///< where it adapts
  std::string ledger;            ///< JSON
  Message synthetic = {};        ///< what `Simulation::synthetic` says, where the round cannot be run again
  std::string unpublished = {};  ///< what the round still has to write down elsewhere; the writer's own
  std::vector<double> canary_scores = {};  ///< of gradient canaries
  torch::Tensor labels = {};               ///< of all examples, where they were randomised; int64 [n]
};

/// 64-bit FNV-1a (Fowler, Noll, Vo), byte by byte: tells damage, does not protect against malice.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// As bytes: "FACP", version 5, length and checksum of the rest, then each part with its
/// length.
Bytes pack_checkpoint(const Checkpoint& checkpoint);

/// Throws Error when the bytes are damaged, of another version or of another model.
Checkpoint unpack_checkpoint(std::span<const std::byte> bytes, const Model& model);

}  // namespace fedarena
