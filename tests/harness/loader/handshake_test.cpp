#include "harness/loader/handshake.hpp"

#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/matchers.hpp"

namespace fedarena {
namespace {

template <std::size_t size>
void put(char (&field)[size], const std::string& text) {
  std::snprintf(field, size, "%s", text.c_str());
}

Plugin fitting() {
  Plugin plugin = own_build();
  put(plugin.name, "name");
  put(plugin.version, "1.0.0");
  return plugin;
}

TEST(Handshake, FitsThisBuild) { EXPECT_THAT(mismatches(fitting()), IsEmpty()); }

TEST(Handshake, NamesEachMismatchWithItsRemedy) {
  struct Misfit {
    std::function<void(Plugin&)> make;
    std::string found, remedy;
  };
  const std::string own_abi = std::to_string(kPluginAbi);
  const std::vector<Misfit> misfits{
      {[](Plugin& plugin) { plugin.abi = 0; }, "SDK ABI: the plugin has 0, the program " + own_abi,
       "rebuild the plugin against this program's SDK"},
      {[](Plugin& plugin) { plugin.abi = 999; }, "SDK ABI: the plugin has 999, the program " + own_abi,
       "update fedarena"},
      {[](Plugin& plugin) { put(plugin.compiler, "clang 3"); },
       "compiler: the plugin has clang 3, the program " FEDARENA_COMPILER, "same compiler"},
      {[](Plugin& plugin) { put(plugin.cxx_abi, "libstdc++ pre-cxx11"); }, "C++ library",
       "libstdc++ pre-cxx11"},
      {[](Plugin& plugin) { put(plugin.torch_version, "0.4.1"); },
       "LibTorch: the plugin has 0.4.1, the program " TORCH_VERSION, "CMAKE_PREFIX_PATH"}};
  for (const Misfit& misfit : misfits) {
    Plugin plugin = fitting();
    misfit.make(plugin);
    EXPECT_THAT(mismatches(plugin), ElementsAre(has_all(misfit.found, misfit.remedy)));
  }
}

TEST(Handshake, NamesWhatIsMissing) {
  Plugin nameless = fitting();
  put(nameless.name, "");
  EXPECT_THAT(mismatches(nameless), ElementsAre("it states no name"));
  Plugin uncompiled = fitting();
  put(uncompiled.compiler, "\x1b[2Jgcc");  // would clear the terminal
  EXPECT_THAT(mismatches(uncompiled), ElementsAre(HasSubstr("the plugin has nothing")));
}

TEST(Handshake, TakesATextWithoutAnEndForNone) {
  Plugin endless;
  std::memset(&endless, 'x', sizeof(endless));
  EXPECT_EQ(field_text(endless.name), std::nullopt);
  EXPECT_THAT(mismatches(endless),
              ElementsAre(HasSubstr("SDK ABI"), HasSubstr("compiler"), HasSubstr("C++ library"),
                          HasSubstr("LibTorch"), "it states no name", "it states no version"));
}

}  // namespace
}  // namespace fedarena
