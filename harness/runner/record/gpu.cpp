#include "harness/runner/record/gpu.hpp"

#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <fstream>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>

namespace fedarena {
namespace {

// The driver's own interface, whose functions and numbers never change, without the headers of the CUDA
// Toolkit, which nothing else here needs. LibTorch has loaded and started it.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {}
  ~Driver() {
    if (library_ != nullptr) dlclose(library_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Whether there is such a function, and it succeeded.
  template <typename... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    constexpr int kSuccess = 0;
    if (library_ == nullptr) return false;
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }

 private:
  void* library_;
};

// "13.0" of 13000.
std::string cuda_version(long number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// "9.19.0" of 91900, and "8.9.7" of 8907.
std::string cudnn_version(long number) {
  const long major = number >= 90'000 ? 10'000 : 1000;
  return fmt::format("{}.{}.{}", number / major, number % major / 100, number % 100);
}

void ask_driver(int number, Gpu& gpu) {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
  const Driver driver;
  int device = 0, major = 0, minor = 0, version = 0;
  std::size_t memory = 0;
  std::array<char, 256> name{};
  if (!driver.call("cuInit", 0U) || !driver.call("cuDeviceGet", &device, number)) return;
  if (driver.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()) - 1, device))
    gpu.name = name.data();
  if (driver.call("cuDeviceGetAttribute", &major, kMajor, device) &&
      driver.call("cuDeviceGetAttribute", &minor, kMinor, device))
    gpu.compute_capability = fmt::format("{}.{}", major, minor);
  if (driver.call("cuDeviceTotalMem_v2", &memory, device)) gpu.memory = static_cast<std::int64_t>(memory);
  if (driver.call("cuDriverGetVersion", &version)) gpu.driver_cuda = cuda_version(version);
}

}  // namespace

Gpu observe_gpu(int number) {
  Gpu gpu;
  ask_driver(number, gpu);
  std::ifstream("/sys/module/nvidia/version") >> gpu.driver;
  const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
  if (hooks.hasCUDART()) gpu.runtime_cuda = cuda_version(hooks.versionCUDART());
  if (hooks.hasCuDNN()) gpu.cudnn = cudnn_version(hooks.versionCuDNN());
  const at::Context& context = at::globalContext();
  gpu.tf32 = context.allowTF32CuBLAS() || context.allowTF32CuDNN();
  gpu.deterministic = context.deterministicAlgorithms();
  return gpu;
}

}  // namespace fedarena
