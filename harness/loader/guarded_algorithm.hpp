#pragma once

#include <memory>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// An algorithm of a plugin whose exceptions cannot leave as they are: whatever it throws becomes an Error
/// that names plugin, algorithm and call. Interrupted passes, so that Ctrl-C works inside of it.
std::unique_ptr<const Algorithm> guarded(const AlgorithmInfo& info, const Settings& settings);

}  // namespace fedarena
