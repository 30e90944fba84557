#pragma once

#include <atomic>

namespace fedarena {

/// From now on the first Ctrl-C, SIGTERM or SIGHUP (a terminal that is closed) asks for an orderly stop, by
/// setting what is returned; the second one gets the default action and ends the program at once. A signal
/// that is ignored stays ignored.
const std::atomic<bool>& stop_on_signal();

}  // namespace fedarena
