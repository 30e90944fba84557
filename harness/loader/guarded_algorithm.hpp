#pragma once

#include <memory>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/error.hpp"

namespace fedarena {

/// A plugin threw something that is not an Error, which says nothing of what the user gave.
class PluginFailure : public Error {
 public:
  using Error::Error;
};

/// An algorithm of a plugin whose exceptions cannot leave as they are: whatever it throws becomes an Error
/// that names plugin, algorithm and call, and a PluginFailure unless it was one. Interrupted passes, so that
/// Ctrl-C works inside of it.
std::unique_ptr<const Algorithm> guarded(const AlgorithmInfo& info, const Settings& settings);

}  // namespace fedarena
