#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// What a client may send in a round.
struct DeclaredUplink {
  std::vector<UplinkEntry> entries;  ///< of its algorithm, in order
  std::int64_t examples = 0;         ///< of the client, assumed public
  std::string sender = "a client";   ///< what refusals call it
};

/// Whether names, kinds and order of a message's entries are those; the numbers in it may be any.
bool is_as_declared(const Message& message, const std::vector<UplinkEntry>& entries);

/// Throws Error, with what the policy "local" has to do with it, where they are not, or a count is not the
/// number of the client's examples.
void check_declared(const Message& message, const DeclaredUplink& declared);

/// The access of a round in which messages of the policy "client", or what is asked of them, are not as
/// declared.
inline constexpr const char* kUndeclaredMessages = "messages unlike those that uplink_entries() declares";

}  // namespace fedarena
