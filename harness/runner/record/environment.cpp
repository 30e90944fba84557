#include "harness/runner/record/environment.hpp"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

#include <ATen/Version.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torch/version.h>

#include "fedarena/base/file.hpp"
#include "fedarena/plugin.hpp"

#include "harness/digest/sha256.hpp"
#include "harness/runner/record/gpu.hpp"

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

// What nobody tells is left out.
void add_gpu(const Gpu& gpu, nlohmann::json& document) {
  const auto add = [&](const char* field, const std::string& text) {
    if (!text.empty()) document[field] = text;
  };
  add("gpu", gpu.name);
  add("gpu_compute_capability", gpu.compute_capability);
  if (gpu.memory > 0) document["gpu_memory_bytes"] = gpu.memory;
  add("gpu_driver", gpu.driver);
  add("gpu_driver_cuda", gpu.driver_cuda);
  add("cuda", gpu.runtime_cuda);
  add("cudnn", gpu.cudnn);
  document["tf32"] = gpu.tf32;
  document["deterministic"] = gpu.deterministic;
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
  if (device.is_cuda()) add_gpu(observe_gpu(device.index()), document);
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
