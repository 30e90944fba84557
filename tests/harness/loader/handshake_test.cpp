#include "harness/loader/handshake.hpp"

#include <string>

#include <gmock/gmock.h>

#include "fedarena/algorithm.hpp"

namespace fedarena {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plugin fitting() {
  Plugin plugin = own_build();
  plugin.name = "name";
  plugin.version = "1.0.0";
  plugin.install = [](Registry&) {};
  return plugin;
}

TEST(Handshake, FitsThisBuild) { EXPECT_THAT(mismatches(fitting()), IsEmpty()); }

TEST(Handshake, FitsALongerDescription) {
  Plugin plugin = fitting();
  plugin.size += 64;  // of a later SDK that only appended
  EXPECT_THAT(mismatches(plugin), IsEmpty());
}

TEST(Handshake, NamesEachMismatchWithItsRemedy) {
  Plugin older = fitting();
  older.abi = 0;
  EXPECT_THAT(
      mismatches(older),
      ElementsAre(AllOf(HasSubstr("SDK ABI: the plugin has 0, the program " + std::to_string(kPluginAbi)),
                        HasSubstr("rebuild the plugin against this program's SDK"))));
  Plugin newer = fitting();
  newer.abi = 7;
  EXPECT_THAT(
      mismatches(newer),
      ElementsAre(AllOf(HasSubstr("SDK ABI: the plugin has 7, the program " + std::to_string(kPluginAbi)),
                        HasSubstr("update fedarena"))));
  Plugin compiled = fitting();
  compiled.compiler = "clang 3";
  EXPECT_THAT(mismatches(compiled),
              ElementsAre(AllOf(HasSubstr("compiler: the plugin has clang 3, the program " FEDARENA_COMPILER),
                                HasSubstr("same compiler"))));
  Plugin library = fitting();
  library.cxx_abi = "libstdc++ pre-cxx11";
  EXPECT_THAT(mismatches(library),
              ElementsAre(AllOf(HasSubstr("C++ library"), HasSubstr("libstdc++ pre-cxx11"))));
  Plugin torch = fitting();
  torch.torch_version = "0.4.1";
  EXPECT_THAT(mismatches(torch),
              ElementsAre(AllOf(HasSubstr("LibTorch: the plugin has 0.4.1, the program " TORCH_VERSION),
                                HasSubstr("CMAKE_PREFIX_PATH"))));
}

TEST(Handshake, NamesWhatIsMissing) {
  Plugin nameless = fitting();
  nameless.name = "";
  EXPECT_THAT(mismatches(nameless), ElementsAre("it states no name"));
  nameless.name = nullptr;
  EXPECT_THAT(mismatches(nameless), ElementsAre("it states no name"));
  Plugin unversioned = fitting();
  unversioned.version = nullptr;
  EXPECT_THAT(mismatches(unversioned), ElementsAre("it states no version"));
  Plugin idle = fitting();
  idle.install = nullptr;
  EXPECT_THAT(mismatches(idle), ElementsAre("it has no install function"));
  Plugin uncompiled = fitting();
  uncompiled.compiler = nullptr;
  EXPECT_THAT(mismatches(uncompiled), ElementsAre(HasSubstr("the plugin has nothing")));
}

TEST(Handshake, ReportsAllMismatchesAtOnce) {
  const Plugin wrong{sizeof(Plugin), 99, "gcc 1", "none", "0.1", "", nullptr, nullptr};
  EXPECT_EQ(mismatches(wrong).size(), 7U);
}

TEST(Handshake, ReadsNothingBeyondAShortDescription) {
  Plugin plugin = fitting();
  plugin.size = sizeof(Plugin) - 1;
  plugin.compiler = reinterpret_cast<const char*>(1);  // would crash if it were read
  plugin.name = plugin.compiler;
  EXPECT_THAT(mismatches(plugin),
              ElementsAre(AllOf(HasSubstr("description of"), HasSubstr("rebuild the plugin"))));
}

}  // namespace
}  // namespace fedarena
