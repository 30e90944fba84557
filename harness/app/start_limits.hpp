#pragma once

#include <cstddef>
#include <string>

namespace fedarena {

/// What the full program takes before it reads its command line: libraries map their code, and OpenBLAS
/// starts its threads and takes their buffers.
struct StartNeeds {
  std::size_t bytes = 0;  ///< of address space
  int threads = 0;
  std::size_t stack = 0;  ///< bytes for each thread
};

/// On this machine, as far as its cores and OPENBLAS_NUM_THREADS tell.
StartNeeds start_needs();

/// Tries whether this process may have so much; otherwise says what it lacks and what to do, in one message.
/// LibTorch and OpenBLAS would hang or crash there without a word. Empty where all is well.
std::string start_problem(const StartNeeds& needs);

}  // namespace fedarena
