#pragma once

#include <atomic>

#include "harness/ranks/ranks.hpp"

// What fedarena and its library for MPI, which is loaded where MPI started the program, know of each other.
namespace fedarena {

inline constexpr const char* kMpiLibrary = "fedarena_mpi";
inline constexpr const char* kJoinRanks = "fedarena_join_ranks";
using JoinRanks = Ranks*(const std::atomic<bool>* stop);

}  // namespace fedarena
