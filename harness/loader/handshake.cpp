#include "harness/loader/handshake.hpp"

#include <cstring>

#include <fmt/format.h>

namespace fedarena {
namespace {

void compare(std::vector<std::string>& problems, const char* what, const char* theirs, const char* ours,
             const char* remedy) {
  if (theirs != nullptr && std::strcmp(theirs, ours) == 0) return;
  problems.push_back(fmt::format("{}: the plugin has {}, the program {}; {}", what,
                                 theirs ? theirs : "nothing", ours, remedy));
}

}  // namespace

const Plugin& own_build() {
  static const Plugin build{
      sizeof(Plugin), kPluginAbi, FEDARENA_COMPILER, FEDARENA_CXX_ABI, TORCH_VERSION, "fedarena", "",
      nullptr};
  return build;
}

std::vector<std::string> mismatches(const Plugin& plugin) {
  const Plugin& own = own_build();
  std::vector<std::string> problems;
  if (plugin.size < sizeof(Plugin)) {
    problems.push_back(fmt::format(
        "description of {} bytes, the program expects {}; rebuild the plugin against this program's SDK",
        plugin.size, sizeof(Plugin)));
    return problems;  // the other fields may not be there
  }
  if (plugin.abi != own.abi) {
    problems.push_back(fmt::format("SDK ABI: the plugin has {}, the program {}; {}", plugin.abi, own.abi,
                                   plugin.abi < own.abi
                                       ? "rebuild the plugin against this program's SDK"
                                       : "update fedarena, or build the plugin with its older SDK"));
  }
  compare(problems, "compiler", plugin.compiler, own.compiler, "build both with the same compiler");
  compare(problems, "C++ library", plugin.cxx_abi, own.cxx_abi, "build both with the same C++ library ABI");
  compare(problems, "LibTorch", plugin.torch_version, own.torch_version,
          "configure the plugin with the same CMAKE_PREFIX_PATH as the program");
  if (plugin.name == nullptr || *plugin.name == '\0') problems.emplace_back("it states no name");
  if (plugin.version == nullptr) problems.emplace_back("it states no version");
  if (plugin.install == nullptr) problems.emplace_back("it has no install function");
  return problems;
}

}  // namespace fedarena
