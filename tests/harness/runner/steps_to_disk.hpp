#pragma once

namespace fedarena {

/// Steps on the way to the disk that this process may still make before it dies, with exit code 9; negative:
/// it never does. A step is a change that is brought to disk: rename() and fsync(), which stand in for the C
/// library's in this program.
extern int steps_left;
/// Whether each change of a file is a step, also one that nothing brings to disk at once.
extern bool steps_are_small;
/// Whether the step after the last one fails once, as on a full disk, and the process lives on.
extern bool last_step_fails;

}  // namespace fedarena
