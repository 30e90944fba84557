#pragma once

#include <atomic>

namespace fedarena {

/// From now on the first Ctrl-C, SIGTERM, SIGHUP (a terminal that is closed) or SIGXCPU (`ulimit -S -t`) asks
/// for an orderly stop, by setting what is returned; the second one gets the default action and ends the
/// program at once, except that a limit on processor time only ends it when its hard part is reached. A
/// signal that is ignored stays ignored.
const std::atomic<bool>& stop_on_signal();

}  // namespace fedarena
