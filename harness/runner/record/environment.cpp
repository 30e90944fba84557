#include "harness/runner/record/environment.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <dlfcn.h>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torch/version.h>

#include "fedarena/base/file.hpp"
#include "fedarena/plugin.hpp"

#include "harness/digest/sha256.hpp"

namespace fedarena {
namespace {

// Reference BLAS reaches 1 to 3, a tuned one 20 to 150 on any processor of the last ten years.
constexpr double kSlowGflops = 6;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// The path of the library that answers BLAS calls, as the process has it mapped.
std::string blas_library() {
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    const std::string name = path.substr(path.rfind('/') + 1);
    for (const char* known : {"libopenblas", "libmkl", "libblis", "libblas", "libatlas"}) {
      if (name.rfind(known, 0) == 0) return path;
    }
  }
  return "built into LibTorch";
}

// LibTorch has had a function of its own for it since 2.1 only.
std::string libtorch_kernels() {
  const std::string config = at::show_config(), label = "CPU capability usage: ";
  const std::size_t found = config.find(label);
  if (found == std::string::npos) return "unknown";
  const std::size_t begin = found + label.size();
  return config.substr(begin, config.find('\n', begin) - begin);
}

std::string digest_of(const std::filesystem::path& file) {
  return sha256_of(read_whole_file(file, kMostBytesOfFile));
}

std::string program_digest() { return digest_of("/proc/self/exe"); }

nlohmann::json plugins_of(const PluginHost& host) {
  nlohmann::json plugins = nlohmann::json::array();
  for (const PluginReport& report : host.reports()) {
    if (!report.problem.empty()) continue;
    plugins.push_back({{"name", report.name},
                       {"version", report.version},
                       {"sha256", digest_of(report.library)},
                       {"algorithms", report.algorithms}});
  }
  return plugins;
}

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

void ask_driver(int number, results::Json& gpu) {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
  const Driver driver;
  int device = 0, major = 0, minor = 0, version = 0;
  std::size_t memory = 0;
  std::array<char, 256> name{};
  if (!driver.call("cuInit", 0U) || !driver.call("cuDeviceGet", &device, number)) return;
  if (driver.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()) - 1, device))
    gpu["gpu"] = name.data();
  if (driver.call("cuDeviceGetAttribute", &major, kMajor, device) &&
      driver.call("cuDeviceGetAttribute", &minor, kMinor, device))
    gpu["gpu_compute_capability"] = fmt::format("{}.{}", major, minor);
  if (driver.call("cuDeviceTotalMem_v2", &memory, device)) gpu["gpu_memory_bytes"] = memory;
  if (driver.call("cuDriverGetVersion", &version)) gpu["gpu_driver_cuda"] = cuda_version(version);
}

// Of one thread.
double measure_gflops() {
  constexpr std::int64_t kSize = 384;
  const torch::Tensor left = torch::ones({kSize, kSize});
  const torch::Tensor right = torch::ones({kSize, kSize});
  double best = 0;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    torch::mm(left, right);
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * kSize * kSize * kSize / taken.count());
  }
  return best;
}

}  // namespace

std::string arithmetic() {
  void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  const std::string libtorch = "LibTorch " + libtorch_kernels();
  if (symbol == nullptr) return libtorch;
  return fmt::format("{}, OpenBLAS {}", libtorch, reinterpret_cast<const char* (*)()>(symbol)());
}

results::Json observe_gpu(int number) {
  results::Json gpu = results::Json::object();
  ask_driver(number, gpu);
  std::string version;
  if (std::ifstream("/sys/module/nvidia/version") >> version) gpu["gpu_driver"] = version;
  const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
  if (hooks.hasCUDART()) gpu["cuda"] = cuda_version(hooks.versionCUDART());
  if (hooks.hasCuDNN()) gpu["cudnn"] = cudnn_version(hooks.versionCuDNN());
  const at::Context& context = at::globalContext();
  gpu["tf32"] = context.allowTF32CuBLAS() || context.allowTF32CuDNN();
  gpu["deterministic"] = context.deterministicAlgorithms();
  return gpu;
}

results::Json observe_environment(const PluginHost& host, int workers, torch::Device device) {
  utsname system{};
  uname(&system);
  nlohmann::json document{
      {"fedarena", FEDARENA_VERSION},
      {"commit", FEDARENA_COMMIT},
      {"program_sha256", program_digest()},
      {"compiler", FEDARENA_COMPILER},
      {"libtorch", TORCH_VERSION},
      {"sdk_abi", kPluginAbi},
      {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
      {"processor", processor_name()},
      {"cores", std::thread::hardware_concurrency()},
      {"workers", workers},
      {"device", device.str()},
      {"blas", blas_library()},
      {"blas_gflops_one_thread", measure_gflops()},
      {"arithmetic", arithmetic()},
      {"plugins", plugins_of(host)},
  };
  if (device.is_cuda()) document.update(nlohmann::json(observe_gpu(device.index())));
  return document;
}

std::string build_identity(const PluginHost& host) {
  return fmt::format("{} {} {}", program_digest(), TORCH_VERSION, plugins_of(host).dump());
}

std::string slow_blas_warning(const results::Json& environment) {
  const double gflops = environment.at("blas_gflops_one_thread");
  if (gflops >= kSlowGflops) return {};
  return fmt::format(
      "warning: matrix products run at {:.1f} GFLOP/s on one core ({}); a tuned BLAS is ten times faster.\n"
      "  Install OpenBLAS (Debian and Ubuntu: apt-get install libopenblas-dev) and run again.",
      gflops, environment.at("blas").get<std::string>());
}

}  // namespace fedarena
