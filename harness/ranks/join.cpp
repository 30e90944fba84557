#include <cstdlib>
#include <string>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/ranks/ranks.hpp"

namespace fedarena {
namespace {

namespace dll = boost::dll;

// The library of mpi/mpi_ranks.cpp, which is loaded where a launcher started the program, and what it has.
constexpr const char* kMpiLibrary = "fedarena_mpi";
constexpr const char* kJoinRanks = "fedarena_join_ranks";
using JoinRanks = Ranks*(const std::atomic<bool>* stop);

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

// How many ranks were started, by what launchers tell their programs: Open MPI's, MPICH's and srun. 1 where
// nothing did.
int started_ranks(bool apart) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const int size = number_in(variable); size > 0) return size;
  }
  // Slurm sets SLURM_NTASKS in batch scripts, too, where no rank was started, and this one in steps.
  const int tasks = number_in("SLURM_STEP_NUM_TASKS");
  if (std::getenv("PMIX_RANK") != nullptr) return tasks;
  if (tasks <= 1 || apart) return 1;
  throw Error(Complaint{
      .found =
          fmt::format("srun started {} tasks without MPI, and each of them would run all of the file", tasks),
      .remedy = "Have them share it with `srun --mpi=pmix` (pmi2 for MPICH), start one with `srun -n 1`, or "
                "give each cells of its own with --only"});
}

}  // namespace

std::unique_ptr<Ranks> join_ranks(const std::atomic<bool>& stop, bool apart) {
  const int started = started_ranks(apart);
  if (started <= 1) return nullptr;
  const auto library =
      dll::program_location().parent_path().parent_path() / "lib" / fmt::format("lib{}.so", kMpiLibrary);
  boost::dll::fs::error_code failure;
  // Open MPI's own parts look its symbols up in the program. The library stays until the end.
  static auto* library_in_use = new dll::shared_library(library, failure, dll::load_mode::rtld_global);
  if (failure || !library_in_use->has(kJoinRanks)) {
    throw Error(Complaint{
        .found = fmt::format("{} ranks were started, and this fedarena was built without MPI", started),
        .remedy = "Install MPI (Debian and Ubuntu: apt-get install libopenmpi-dev openmpi-bin) and build "
                  "fedarena again, or start it without a launcher"});
  }
  std::unique_ptr<Ranks> ranks(library_in_use->get<JoinRanks>(kJoinRanks)(&stop));
  if (ranks->count() != started) {
    throw Error(
        Complaint{.found = fmt::format("{} ranks were started, and MPI knows of {}", started, ranks->count()),
                  .remedy = "Start fedarena by the launcher of the MPI that it was built with"});
  }
  return ranks;
}

}  // namespace fedarena
