#pragma once

#include <atomic>
#include <memory>

#include "harness/ranks/ranks.hpp"

namespace fedarena {

/// The ranks of this program where mpirun or srun started several of them, else nullptr. `stop` is what
/// limits their waits; see Ranks. Error where several were started and this fedarena was built without MPI or
/// with that of another launcher.
std::unique_ptr<Ranks> join_ranks(const std::atomic<bool>& stop);

}  // namespace fedarena
