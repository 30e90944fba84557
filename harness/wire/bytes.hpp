#pragma once

#include <cstddef>
#include <vector>

namespace fedarena {

/// A serialised message, or several.
using Bytes = std::vector<std::byte>;

}  // namespace fedarena
