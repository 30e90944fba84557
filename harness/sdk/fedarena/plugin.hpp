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
inline constexpr std::uint32_t kPluginAbi = 18;

/// What a table, a paper and `fedarena plugins NAME` say of an algorithm.
struct FEDARENA_API Description {
  std::string summary;   ///< one sentence
  std::string citation;  ///< authors, venue, year, arXiv number
  std::string downlink;  ///< what the server sends a client, such as "model"
  std::string uplink;    ///< what a client sends, such as "model update, number of examples"
  /// The privacy policy without which experiments may not run it, such as "record"; empty: any.
  std::string requires_policy = {};
  /// Whether it reads Server::proxy: experiments may not run it without a section [proxy].
  bool requires_proxy = false;
  /// Whether it is done after one round: experiments of more may not run it.
  bool one_round = false;
  /// Whether it works on classes: experiments on a regression may not run it.
  bool requires_classes = false;
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
  /// A derives from Configured, or has a nested `Config` with a static `schema()` and a constructor from it.
  template <typename A>
  void add(std::string name, Description description) {
    add(AlgorithmInfo{std::move(name),
                      std::move(description),
                      A::Config::schema().fields(),
                      [](const Settings& settings) -> std::unique_ptr<const Algorithm> {
                        return std::make_unique<A>(A::Config::schema().read(settings));
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

/// What a plugin's file holds in its section `fedarena_plugin`: plain data without pointers, so that the
/// program reads it from the file and checks it in full before any code of the plugin runs. A change of its
/// size is a change of kPluginAbi, which stays first.
struct Plugin {
  std::uint32_t abi;       ///< kPluginAbi at the plugin's build
  char compiler[64];       ///< family and major version, such as "gcc 12"
  char cxx_abi[64];        ///< the C++ library and its ABI, such as "libstdc++ cxx11"
  char torch_version[64];  ///< LibTorch, such as "1.13.1"
  char name[64];
  char version[64];
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

/// Defines a plugin's handshake and entry point, with literals of fewer than 64 characters:
/// `FEDARENA_PLUGIN("fedavg", "1.0.0") { registry.add<FedAvg>(...); }`
#define FEDARENA_PLUGIN(plugin_name, plugin_version)                                             \
  [[gnu::used, gnu::retain,                                                                      \
    gnu::section("fedarena_plugin")]] static constexpr ::fedarena::Plugin fedarena_handshake = { \
      ::fedarena::kPluginAbi, FEDARENA_COMPILER, FEDARENA_CXX_ABI,                               \
      TORCH_VERSION,          plugin_name,       plugin_version};                                \
  extern "C" FEDARENA_API void fedarena_install(::fedarena::Registry& registry);                 \
  extern "C" FEDARENA_API void fedarena_install([[maybe_unused]] ::fedarena::Registry& registry)
