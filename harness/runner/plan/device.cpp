#include "harness/runner/plan/device.hpp"

#include <cstdlib>
#include <mutex>
#include <optional>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Device.h>
#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/sections/experiment.hpp"

namespace fedarena {
namespace {

[[noreturn]] void refuse(const std::string& setting, std::size_t gpus) {
  if (gpus == 0) {
    const bool has_cuda = at::detail::getCUDAHooks().hasCUDART();
    throw Error(Complaint{
        .found = fmt::format("the device \"{}\" is asked for, but LibTorch sees no GPU", setting),
        .remedy =
            has_cuda ? "Use --device cpu, or see what nvidia-smi says: this LibTorch has CUDA"
                     : "Use --device cpu, or configure with a CUDA build of LibTorch (see docs/install.md)"});
  }
  throw Error(Complaint{.found = fmt::format("the device \"{}\" is asked for, but LibTorch sees {}", setting,
                                             counted(gpus, "GPU")),
                        .allowed = gpus == 1 ? "cuda:0" : fmt::format("cuda:0 to cuda:{}", gpus - 1),
                        .remedy = "Choose one of these, or --device cpu"});
}

// Lets LibTorch give the same bits each time on one kind of GPU: algorithms without races, and sums of
// products in full precision instead of TF32. An operation that cannot is an error when it is called. Must
// come before anything is computed on a GPU; later calls change nothing.
void make_gpus_repeatable() {
  static std::once_flag once;
  std::call_once(once, [] {
    // cuBLAS reads it when it is first used; any other choice of the user's own stays.
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(true, /*warn_only=*/false);
    context.setDeterministicCuDNN(true);
    context.setBenchmarkCuDNN(false);
    context.setAllowTF32CuBLAS(false);
    context.setAllowTF32CuDNN(false);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
    // It would write all memory, of the CPU, too, before anything else does.
    context.setDeterministicFillUninitializedMemory(false);
#endif
  });
}

}  // namespace

torch::Device device_of(const std::string& setting) {
  if (setting == "cpu") return torch::kCPU;
  const std::size_t gpus = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
  if (setting == "auto" && gpus == 0) return torch::kCPU;
  const std::optional<int> number = setting == "auto" ? 0 : gpu_number(setting);
  FEDARENA_CHECK(number.has_value(), ==, true);
  if (static_cast<std::size_t>(*number) >= gpus) refuse(setting, gpus);
  make_gpus_repeatable();
  // With its number: tensors always have one, and are compared with this.
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(*number)};
}

}  // namespace fedarena
