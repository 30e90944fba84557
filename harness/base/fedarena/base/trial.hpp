#pragma once

#include <functional>
#include <string>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// Calls `body` in a copy of this process, whose output goes nowhere, and tells what it died of: an exception
/// that left `body` or nobody caught, a signal, or a call of exit(). Empty when it lived. To be called while
/// no other thread is at work.
FEDARENA_API std::string died_of(const std::function<void()>& body);

}  // namespace fedarena
