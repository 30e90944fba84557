#pragma once

#include <atomic>

namespace fedarena {

/// From now on the first Ctrl-C or SIGTERM asks for an orderly stop, by setting what is returned; the second
/// one gets the default action and ends the program at once.
const std::atomic<bool>& stop_on_signal();

}  // namespace fedarena
