// Files that are not plugins of this program, made from one that is: each is left out with a reason, and
// nothing of it has run.
#include <array>
#include <cfenv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <link.h>
#include <random>
#include <sstream>
#include <string>
#include <sys/stat.h>

#include "fedarena/base/error.hpp"

#include "harness/loader/elf_section.hpp"
#include "harness/loader/plugin_host.hpp"
#include "tests/harness/loader/bad_plugins.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

using ::testing::ExitedWithCode;

const std::string& good() {
  static const auto* const bytes = new std::string(test::content_of(test::bad_plugins() / "good.so"));
  return *bytes;
}

std::optional<std::string> handshake_in(const std::string& bytes) {
  std::istringstream file(bytes);
  return elf_section(file, "fedarena_plugin");
}

template <typename T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, &bytes.at(offset + sizeof(T) - 1) - (sizeof(T) - 1), sizeof(T));
  return value;
}

bool inside(const std::string& bytes, std::size_t offset, std::size_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

std::string patched(std::size_t offset, std::string_view change) {
  return std::string(good()).replace(offset, change.size(), change);
}
std::string with_field(std::size_t field, std::string_view change) {
  return patched(good().find(handshake_in(good()).value()) + field, change);
}

// What becomes of a folder with that plugin in it.
PluginReport load(const std::string& bytes) {
  const test::Scratch folder;
  folder.write("plugin.so", bytes);
  PluginHost host;
  host.load_folder(folder.path());
  return host.reports().front();
}

bool has_run() { return std::getenv("FEDARENA_TEST_INITIALISED") != nullptr; }

TEST(Stranger, RunsNothingUnlessItFits) {
  using std::string_view_literals::operator""sv;
  ::unsetenv("FEDARENA_TEST_INITIALISED");
  const PluginReport future = load(with_field(offsetof(Plugin, abi), "\xe7\x03\0\0"sv));
  EXPECT_THAT(future.problem, StartsWith("it was built for another program: SDK ABI: the plugin has 999"));
  EXPECT_EQ(future.name + " " + future.version, "good 1.2.3");
  EXPECT_THAT(load(with_field(offsetof(Plugin, compiler), "gcc 1\0"sv)).problem,
              HasSubstr("compiler: the plugin has gcc 1, the program"));
  EXPECT_THAT(load(with_field(offsetof(Plugin, torch_version), std::string(64, '7'))).problem,
              HasSubstr("LibTorch: the plugin has nothing, the program"));
  std::string nameless = good();
  for (std::size_t at = 0; (at = nameless.find("\0fedarena_plugin\0"sv, at)) != std::string::npos;) {
    nameless[at + 1] = 'F';
  }
  EXPECT_THAT(load(nameless).problem, StartsWith("it exports no \"fedarena_plugin\""));
  EXPECT_FALSE(has_run());
  EXPECT_EQ(load(good()).problem, "");
  EXPECT_TRUE(has_run());
}

TEST(Stranger, IsNoLibraryOfThisMachine) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(load("").problem, HasSubstr("not a shared library"));
  EXPECT_THAT(load(patched(EI_CLASS, "\1")).problem, HasSubstr("not a shared library (ELF) of this machine"));
  EXPECT_THAT(load(patched(EI_DATA, "\2")).problem, HasSubstr("not a shared library"));
  for (const std::size_t field : {offsetof(ElfW(Ehdr), e_type), offsetof(ElfW(Ehdr), e_machine),
                                  offsetof(ElfW(Ehdr), e_phentsize), offsetof(ElfW(Ehdr), e_shentsize)}) {
    EXPECT_THAT(load(patched(field, "\2\0"sv)).problem, HasSubstr("not a shared library")) << field;
  }
}

TEST(Stranger, IsNoRegularFile) {
  const test::Scratch folder;
  std::filesystem::create_directory(folder / "folder.so");
  ASSERT_EQ(::mkfifo((folder / "pipe.so").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "zero.so");
  PluginHost host;
  host.load_folder(folder.path());
  EXPECT_EQ(host.reports().size(), 3U);
  for (const PluginReport& report : host.reports()) {
    EXPECT_THAT(report.problem, HasSubstr("it is not a regular file")) << report.library;
    EXPECT_EQ(report.library.parent_path(), std::filesystem::canonical(folder.path()))
        << "not a link's target";
  }
}

// dlopen maps a library as its headers say; touching what is not there would end the program with SIGBUS.
TEST(Stranger, WasCutShort) {
  for (std::size_t length = 0; length < good().size(); length += length < 4096 ? 1 : 997) {
    EXPECT_THROW(handshake_in(good().substr(0, length)), Error) << length;
  }
  EXPECT_THROW(handshake_in(good().substr(0, good().size() - 1)), Error);
  const test::Scratch folder;
  for (std::size_t part = 0; part < 40; ++part) {
    folder.write("cut" + std::to_string(part) + ".so", good().substr(0, good().size() * part / 40));
  }
  folder.write("whole.so", good());
  PluginHost host;
  host.load_folder(folder.path());
  EXPECT_EQ(host.reports().size(), 41U);
  for (const PluginReport& report : host.reports()) {
    const bool whole = report.library.filename() == "whole.so";
    EXPECT_EQ(report.problem.empty(), whole) << report.library << report.problem;
  }
}

TEST(Stranger, HasHeadersOfAnyBytes) {
  const auto header = at<ElfW(Ehdr)>(good(), 0);
  const std::array<std::pair<std::size_t, std::size_t>, 3> tables{
      {{0, sizeof(ElfW(Ehdr))},
       {header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr))},
       {header.e_shoff, header.e_shnum * sizeof(ElfW(Shdr))}}};
  std::mt19937 random(26);
  int refused = 0;
  int found = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string bytes = good();
    const auto& [start, size] = tables.at(i % tables.size());
    for (int changes = 0; changes <= i % 4; ++changes) bytes[start + random() % size] = random() % 256;
    try {
      found += handshake_in(bytes) ? 1 : 0;
      const auto changed = at<ElfW(Ehdr)>(bytes, 0);
      for (std::size_t k = 0; k < changed.e_phnum; ++k) {
        const auto segment = at<ElfW(Phdr)>(bytes, changed.e_phoff + k * sizeof(ElfW(Phdr)));
        ASSERT_TRUE(inside(bytes, segment.p_offset, segment.p_filesz)) << i;
      }
      for (std::size_t k = 0; k < changed.e_shnum; ++k) {
        const auto section = at<ElfW(Shdr)>(bytes, changed.e_shoff + k * sizeof(ElfW(Shdr)));
        const bool empty = section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL;
        ASSERT_TRUE(empty || inside(bytes, section.sh_offset, section.sh_size)) << i;
      }
    } catch (const Error& error) {
      ++refused;
      ASSERT_THAT(error.what(), StartsWith("it cannot be loaded: ")) << i;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(found, 1000);
}

// Of a plugin that cannot be loaded without the end of the program, the others know nothing.
TEST(Stranger, EndsNobodyWhenItFailsWhileItIsLoaded) {
  for (const auto& [variable, reason] :
       {std::pair("FEDARENA_TEST_LOADING_THROWS", "no such table"),
        std::pair("FEDARENA_TEST_LOADING_ENDS", "must not get out"),
        std::pair("FEDARENA_TEST_LOADING_CRASHES", "it crashed (Segmentation fault)"),
        std::pair("FEDARENA_TEST_LOADING_EXITS", "with exit code 0"),
        std::pair("FEDARENA_TEST_INSTALLING_CRASHES", "it crashed (Aborted)")}) {
    const test::Scratch folder;
    folder.write("ends.so", good());
    folder.write("fedavg.so", test::content_of(test::build_folder() / "plugins/fedavg.so"));
    PluginHost host;
    ::setenv(variable, "1", 1);
    host.load_folder(folder.path());
    ::unsetenv(variable);
    EXPECT_THAT(host.reports()[0].problem, StartsWith("loading it ends the program: ")) << variable;
    EXPECT_THAT(host.reports()[0].problem, HasSubstr(reason)) << variable;
    EXPECT_EQ(host.reports()[1].problem, "") << variable;
    EXPECT_NE(host.registry().find("fedavg"), nullptr) << variable;
  }
  EXPECT_EQ(load(good()).problem, "");
}

// What it changes while it is loaded would change the numbers of every algorithm.
TEST(Stranger, KeepsRoundingToItself) {
  for (const char* variable : {"FEDARENA_TEST_LOADING_ROUNDS", "FEDARENA_TEST_INSTALLING_ROUNDS"}) {
    ::setenv(variable, "1", 1);
    const PluginReport report = load(good());
    ::unsetenv(variable);
    const int rounding = std::fegetround();
    volatile float smallest = std::numeric_limits<float>::min();
    volatile float half = smallest / 2;  // subnormal
    std::fesetenv(FE_DFL_ENV);
    EXPECT_EQ(report.problem, "") << variable;
    EXPECT_EQ(rounding, FE_TONEAREST) << variable;
    EXPECT_GT(static_cast<float>(half), 0.0F) << variable;
  }
}

}  // namespace
}  // namespace fedarena
