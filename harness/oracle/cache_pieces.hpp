#pragma once

#include <algorithm>
#include <cstdint>

#include <torch/types.h>

namespace fedarena {

/// Numbers that stay in a processor's cache as doubles. Even: normals come in pairs.
inline constexpr std::int64_t kCachePiece = 1 << 15;

/// Calls body(piece, begin) for pieces of a flat vector, in order: several passes over each of them cost what
/// one pass over memory does.
template <typename Body>
void for_each_piece(const torch::Tensor& flat, const Body& body) {
  for (std::int64_t begin = 0; begin < flat.numel(); begin += kCachePiece)
    body(flat.narrow(0, begin, std::min(kCachePiece, flat.numel() - begin)), begin);
}

}  // namespace fedarena
