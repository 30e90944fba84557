#pragma once

#include <string>
#include <variant>

namespace fedarena {

/// An access to private data that nothing privatised. Its epsilon is infinite.
struct ExactAccess {
  std::string what;  ///< "gradient", "loss", "label counts" or "examples"
  bool operator==(const ExactAccess&) const = default;
};

/// Something that happened to private data, as a value whose meaning never changes; new kinds are appended.
using Event = std::variant<ExactAccess>;

}  // namespace fedarena
