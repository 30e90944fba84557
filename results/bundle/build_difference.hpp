#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fedarena::results {

/// In what two run directories were made by different builds or machines, as far as that can change a bit of
/// a result: program, compiler, LibTorch, BLAS, processor, device, and the plugin of the run's algorithm. One
/// line each, "commit 0123abc, now 4567def"; none: the same build. What an older record does not say counts
/// as different. A record that cannot be read is an Error.
std::vector<std::string> build_differences(const std::filesystem::path& recorded,
                                           const std::filesystem::path& replayed);

}  // namespace fedarena::results
