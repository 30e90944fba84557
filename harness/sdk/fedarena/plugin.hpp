#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/version.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena {

class Algorithm;
class Registry;

/// Number of the binary interface between program and plugins; grows with every incompatible change of an SDK
/// header.
inline constexpr std::uint32_t kPluginAbi = 5;

/// What a table, a paper and `fedarena plugins NAME` say of an algorithm.
struct FEDARENA_API Description {
  std::string summary;   ///< one sentence
  std::string citation;  ///< authors, venue, year, arXiv number
  std::string downlink;  ///< what the server sends a client, such as "model"
  std::string uplink;    ///< what a client sends, such as "model update, number of examples"
  /// The privacy policy without which experiments may not run it, such as "record"; empty: any.
  std::string requires_policy = {};
};

/// An algorithm that a plugin offers.
struct FEDARENA_API AlgorithmInfo {
  std::string name;
  Description description;
  std::vector<Field> fields;
  std::function<std::unique_ptr<const Algorithm>(const Settings&)> create;
  std::string plugin;   ///< plugin name and version; filled in by the loader
  std::string library;  ///< path of the plugin's file; filled in by the loader
};

/// Where a plugin announces its algorithms.
class FEDARENA_API Registry {
 public:
  /// A has a nested `Config`, a static `schema()` and a constructor from a Config.
  template <typename A>
  void add(std::string name, Description description) {
    add(AlgorithmInfo{std::move(name),
                      std::move(description),
                      A::schema().fields(),
                      [](const Settings& settings) -> std::unique_ptr<const Algorithm> {
                        return std::make_unique<A>(A::schema().read(settings));
                      },
                      {},
                      {}});
  }
  /// Throws Error when the name is taken.
  void add(AlgorithmInfo info);

  const std::vector<AlgorithmInfo>& algorithms() const { return algorithms_; }
  /// The algorithm of that name, or nullptr.
  const AlgorithmInfo* find(std::string_view name) const;

 private:
  std::vector<AlgorithmInfo> algorithms_;
};

/// What a plugin's file exports under the C name `fedarena_plugin`: plain data, checked in full before any
/// C++ call crosses the boundary. Fields are only ever appended.
struct Plugin {
  std::uint32_t size;         ///< sizeof(Plugin) at the plugin's build
  std::uint32_t abi;          ///< kPluginAbi at the plugin's build
  const char* compiler;       ///< family and major version, such as "gcc 12"
  const char* cxx_abi;        ///< the C++ library and its ABI, such as "libstdc++ cxx11"
  const char* torch_version;  ///< LibTorch, such as "1.13.1"
  const char* name;
  const char* version;
  void (*install)(Registry&);
};

#define FEDARENA_STRING_(text) #text
#define FEDARENA_STRING(text) FEDARENA_STRING_(text)

#if defined(__clang__)
#define FEDARENA_COMPILER "clang " FEDARENA_STRING(__clang_major__)
#else
#define FEDARENA_COMPILER "gcc " FEDARENA_STRING(__GNUC__)
#endif

#if defined(_LIBCPP_VERSION)
#define FEDARENA_CXX_ABI "libc++"
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define FEDARENA_CXX_ABI "libstdc++ cxx11"
#else
#define FEDARENA_CXX_ABI "libstdc++ pre-cxx11"
#endif

}  // namespace fedarena

/// Defines a plugin's entry point: `FEDARENA_PLUGIN("fedavg", "1.0.0") { registry.add<FedAvg>(...); }`
#define FEDARENA_PLUGIN(plugin_name, plugin_version)                                              \
  static void fedarena_install(::fedarena::Registry& registry);                                   \
  extern "C" FEDARENA_API const ::fedarena::Plugin fedarena_plugin;                               \
  extern "C" FEDARENA_API const ::fedarena::Plugin fedarena_plugin = {sizeof(::fedarena::Plugin), \
                                                                      ::fedarena::kPluginAbi,     \
                                                                      FEDARENA_COMPILER,          \
                                                                      FEDARENA_CXX_ABI,           \
                                                                      TORCH_VERSION,              \
                                                                      plugin_name,                \
                                                                      plugin_version,             \
                                                                      &fedarena_install};         \
  static void fedarena_install([[maybe_unused]] ::fedarena::Registry& registry)
