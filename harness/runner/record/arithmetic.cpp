#include "harness/runner/record/arithmetic.hpp"

#include <dlfcn.h>

#include <ATen/Version.h>
#include <fmt/format.h>

namespace fedarena {
namespace {

// LibTorch has had a function of its own for it since 2.1 only.
std::string libtorch_kernels() {
  const std::string config = at::show_config(), label = "CPU capability usage: ";
  const std::size_t found = config.find(label);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + label.size();
  return config.substr(begin, config.find('\n', begin) - begin);
}

std::string openblas_kernels() {
  void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  return symbol == nullptr ? "" : reinterpret_cast<const char* (*)()>(symbol)();
}

}  // namespace

std::string arithmetic() {
  const std::string libtorch = libtorch_kernels(), openblas = openblas_kernels();
  return fmt::format("LibTorch {}{}{}", libtorch.empty() ? "unknown" : libtorch,
                     openblas.empty() ? "" : ", OpenBLAS ", openblas);
}

}  // namespace fedarena
