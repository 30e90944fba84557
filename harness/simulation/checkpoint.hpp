#pragma once

#include <cstdint>
#include <span>
#include <string>

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
  double clip_norm = 0;  ///< where it adapts
  std::string ledger;    ///< JSON
};

/// As bytes: "FACP", version, length and checksum (64-bit FNV-1a) of the rest, then each part with its
/// length. Version 3; version 2, which knew no states in a file, is read too.
Bytes pack_checkpoint(const Checkpoint& checkpoint);

/// Throws Error when the bytes are damaged, of another version or of another model.
Checkpoint unpack_checkpoint(std::span<const std::byte> bytes, const Model& model);

}  // namespace fedarena
