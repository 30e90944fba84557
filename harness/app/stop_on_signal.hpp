#pragma once

#include <atomic>

namespace fedarena {

/// From now on Ctrl-C, SIGTERM, SIGHUP (a terminal that is closed) or SIGXCPU (`ulimit -S -t`) ends the
/// program with a word and its exit code; so does one that hold_signals() kept. A signal that is ignored
/// stays ignored, and one that comes while a file is put in place (`Uninterrupted`) waits. The first thing
/// that main() does.
void end_on_signal();

/// From now on, signals wait for end_on_signal(), also in the program that this process becomes: before its
/// main(), loading libraries takes it most of a second.
void hold_signals();

/// After end_on_signal(): from now on the first signal asks for an orderly stop instead, by setting what is
/// returned; the second one gets the default action and ends the program at once, except that a limit on
/// processor time only ends it when its hard part is reached. Nor does it end any more where nobody reads its
/// output.
const std::atomic<bool>& stop_on_signal();

}  // namespace fedarena
