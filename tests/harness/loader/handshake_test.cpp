#include "harness/loader/handshake.hpp"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "fedarena/algorithm.hpp"

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
  Plugin older = fitting();
  older.abi = 0;
  EXPECT_THAT(
      mismatches(older),
      ElementsAre(AllOf(HasSubstr("SDK ABI: the plugin has 0, the program " + std::to_string(kPluginAbi)),
                        HasSubstr("rebuild the plugin against this program's SDK"))));
  Plugin newer = fitting();
  newer.abi = 999;
  EXPECT_THAT(
      mismatches(newer),
      ElementsAre(AllOf(HasSubstr("SDK ABI: the plugin has 999, the program " + std::to_string(kPluginAbi)),
                        HasSubstr("update fedarena"))));
  Plugin compiled = fitting();
  put(compiled.compiler, "clang 3");
  EXPECT_THAT(mismatches(compiled),
              ElementsAre(AllOf(HasSubstr("compiler: the plugin has clang 3, the program " FEDARENA_COMPILER),
                                HasSubstr("same compiler"))));
  Plugin library = fitting();
  put(library.cxx_abi, "libstdc++ pre-cxx11");
  EXPECT_THAT(mismatches(library),
              ElementsAre(AllOf(HasSubstr("C++ library"), HasSubstr("libstdc++ pre-cxx11"))));
  Plugin torch = fitting();
  put(torch.torch_version, "0.4.1");
  EXPECT_THAT(mismatches(torch),
              ElementsAre(AllOf(HasSubstr("LibTorch: the plugin has 0.4.1, the program " TORCH_VERSION),
                                HasSubstr("CMAKE_PREFIX_PATH"))));
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
