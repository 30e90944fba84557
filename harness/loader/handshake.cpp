#include "harness/loader/handshake.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/loader/elf_section.hpp"

namespace fedarena {
namespace {

void compare(std::vector<std::string>& problems, const char* what, std::span<const char> theirs,
             std::span<const char> ours, const char* remedy) {
  const std::optional<std::string> found = field_text(theirs);
  const std::optional<std::string> own = field_text(ours);
  if (found == own) return;
  problems.push_back(fmt::format("{}: the plugin has {}, the program {}; {}", what, found.value_or("nothing"),
                                 own.value(), remedy));
}

}  // namespace

Plugin read_handshake(const std::filesystem::path& library) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(library, failure);
  if (failure) throw Error::of("it cannot be loaded: {}", failure.message());
  if (!std::filesystem::is_regular_file(status)) {
    throw Error::of("it cannot be loaded: it is not a regular file; put the plugin's .so file in its place");
  }
  std::ifstream file(library, std::ios::binary);
  if (!file) throw Error::of("it cannot be loaded: {}", std::generic_category().message(errno));
  const std::optional<ElfSection> section = find_elf_section(file, "fedarena_plugin");
  if (!section) {
    throw Error::of(
        "it exports no \"fedarena_plugin\"; write FEDARENA_PLUGIN(name, version) {{ ... }} in it, "
        "and build it against this program's SDK");
  }
  Plugin plugin;
  if (section->size != sizeof(plugin)) {
    throw Error::of(
        "it was built for another program: description of {} bytes, the program expects {}; "
        "rebuild the plugin against this program's SDK",
        section->size, sizeof(plugin));
  }
  file.seekg(static_cast<std::streamoff>(section->offset));
  if (!file.read(reinterpret_cast<char*>(&plugin), sizeof(plugin))) {
    throw Error::of("it cannot be loaded: its description cannot be read; build or copy it again");
  }
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
