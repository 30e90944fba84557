#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "fedarena/message.hpp"

#include "harness/wire/parts.hpp"

namespace fedarena {

/// Serialises a message, whose size is what the tables count, little-endian: a header of 8 bytes ("FAM1",
/// number of entries), then per entry the length of its name (1 byte), the name, the kind (1 byte) and the
/// value. Params carry their element type, count and a fingerprint of their layout (17 bytes) before the
/// numbers; tensors their element type, number of dimensions (1 byte each) and extents (8 bytes each);
/// scalars take 8 bytes. Tensors may lie on any device.
Bytes encode(const Message& message);

/// Whether encode() would give those bytes, without a copy of them.
bool encodes_to(const Message& message, std::span<const std::byte> bytes);

/// The message that `bytes` hold. `layout`: of every Params in it. Tensors are put on the CPU, Params on
/// `device`. Throws Error when the bytes are not a message, are cut short, have bytes to spare or hold
/// another layout.
Message decode(std::span<const std::byte> bytes, const std::shared_ptr<const Layout>& layout,
               torch::Device device = torch::kCPU);

}  // namespace fedarena
