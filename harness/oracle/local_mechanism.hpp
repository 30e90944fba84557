#pragma once

#include <cstdint>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/message.hpp"
#include "fedarena/random.hpp"

#include "harness/oracle/policies.hpp"

namespace fedarena {

/// Clips and noises what a client is to send under the policy "local", and writes the release into the book.
/// All parameter vectors of the message are one vector: clipped to the norm C around the origin, so that any
/// two messages lie at most 2 C apart, whatever data they came from (one client's data exchanged for
/// another's, replace-one). By tensor, each is clipped to C and noised by itself, a release for each. A
/// message with parts that are not finite numbers becomes noise alone.
///
/// `examples` of the client are assumed public, and an integer may say how many they are. Any other number,
/// and any tensor, has no place in that vector: an Error that names it. `streams`: the client's in this
/// round.
void randomise(Message& message, const LocalPolicy& policy, std::int64_t examples, const Streams& streams,
               RoundAccesses& book);

}  // namespace fedarena
