#include "harness/loader/handshake.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/loader/elf_section.hpp"

namespace fedarena {
namespace {

void compare(std::vector<std::string>& problems, const char* what, std::span<const char> theirs,
             std::span<const char> ours, const char* remedy) {
  const std::string found = field_text(theirs).value_or("nothing");
  const std::string own = field_text(ours).value();
  if (found == own) return;
  problems.push_back(fmt::format("{}: the plugin has {}, the program {}; {}", what, found, own, remedy));
}

}  // namespace

Plugin read_handshake(const std::filesystem::path& library) {
  std::error_code failure;
  const bool regular = std::filesystem::is_regular_file(library, failure);
  if (!failure && !regular) {
    throw Error::of("it cannot be loaded: it is not a regular file; put the plugin's .so file in its place");
  }
  std::ifstream file(library, std::ios::binary);
  if (!file) throw Error::of("it cannot be loaded: {}", std::generic_category().message(errno));
  const std::optional<std::string> section = elf_section(file, "fedarena_plugin");
  if (!section) {
    throw Error::of(
        "it exports no \"fedarena_plugin\"; write FEDARENA_PLUGIN(name, version) {{ ... }} in it, "
        "and build it against this program's SDK");
  }
  if (section->size() != sizeof(Plugin)) {
    throw Error::of(
        "it was built for another program: description of {} bytes, the program expects {}; "
        "rebuild the plugin against this program's SDK",
        section->size(), sizeof(Plugin));
  }
  Plugin plugin;
  std::memcpy(&plugin, section->data(), sizeof(plugin));
  return plugin;
}

std::optional<std::string> field_text(std::span<const char> field) {
  const auto end = std::find(field.begin(), field.end(), '\0');
  const bool plain = std::none_of(field.begin(), end, [](char c) { return (c >= 0 && c < ' ') || c == 127; });
  if (!plain || end == field.end()) return std::nullopt;
  return std::string(field.begin(), end);
}

const Plugin& own_build() {
  static const Plugin build{kPluginAbi, FEDARENA_COMPILER, FEDARENA_CXX_ABI, TORCH_VERSION, "fedarena", ""};
  return build;
}

std::vector<std::string> mismatches(const Plugin& plugin) {
  const Plugin& own = own_build();
  std::vector<std::string> problems;
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
  if (field_text(plugin.name).value_or("").empty()) problems.emplace_back("it states no name");
  if (!field_text(plugin.version)) problems.emplace_back("it states no version");
  return problems;
}

}  // namespace fedarena
