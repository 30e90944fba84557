#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace fedarena {

/// What the full program takes whatever the experiment: libraries map their code, OpenBLAS and the work pool
/// start their threads, and each that calls OpenBLAS takes a buffer.
struct StartNeeds {
  std::size_t bytes = 0;  ///< of address space
  int threads = 0;
  std::size_t stack = 0;      ///< bytes for each thread
  bool beyond_cores = false;  ///< whether --workers and --jobs ask for more threads than there are cores
};

/// On this machine, as far as its cores, OPENBLAS_NUM_THREADS and the --workers and --jobs among these words
/// tell.
StartNeeds start_needs(std::span<const char* const> words = {});

/// Tries whether this process may have so much; otherwise says what it lacks and what to do, in one message.
/// LibTorch and OpenBLAS would hang or crash there without a word. Empty where all is well.
std::string start_problem(const StartNeeds& needs);

}  // namespace fedarena
