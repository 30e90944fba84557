#pragma once

#include <filesystem>

#include "tests/paths.hpp"

namespace fedarena::test {

/// The folder of the plugins that are wrong in one way each, but for good.so.
inline std::filesystem::path bad_plugins() { return build_folder() / "tests" / "loader_plugins"; }

}  // namespace fedarena::test
