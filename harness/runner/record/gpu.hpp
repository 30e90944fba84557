#pragma once

#include <cstdint>
#include <string>

namespace fedarena {

/// What LibTorch and the GPU's driver tell of a GPU; empty or 0 where they do not.
struct Gpu {
  std::string name;                ///< "NVIDIA H100 80GB HBM3"
  std::string compute_capability;  ///< "9.0"
  std::int64_t memory = 0;         ///< bytes
  std::string driver;              ///< version of the driver: "580.95.05"
  std::string driver_cuda;         ///< the newest CUDA that the driver runs: "13.0"
  std::string runtime_cuda;        ///< the CUDA that LibTorch was built with: "13.0"
  std::string cudnn;               ///< version of the convolutions' library: "9.19.0"
  bool tf32 = false;               ///< whether LibTorch may round factors of products to 10 bits
  bool deterministic = false;      ///< whether LibTorch refuses what does not repeat itself
};

/// Asks about the GPU of that number, which LibTorch must see.
Gpu observe_gpu(int number);

}  // namespace fedarena
