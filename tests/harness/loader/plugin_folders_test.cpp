#include <cstdlib>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "harness/loader/plugin_host.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders(const char* variable, const std::vector<fs::path>& given = {}) {
  ::setenv("FEDARENA_PLUGIN_PATH", variable, 1);
  std::vector<fs::path> found = plugin_folders(given);
  ::unsetenv("FEDARENA_PLUGIN_PATH");
  // This program lies in the build tree, where plugins may or may not have been built.
  if (!found.empty() && found.front() == test::build_folder() / "plugins") found.erase(found.begin());
  return found;
}

using Paths = std::vector<fs::path>;

TEST(PluginFolders, AreSeparatedByColons) {
  EXPECT_EQ(folders(""), Paths{});
  EXPECT_EQ(folders("/a"), Paths{"/a"});
  EXPECT_EQ(folders("/a:/b c:d"), (Paths{"/a", "/b c", "d"}));
  EXPECT_EQ(folders("::/a::/b:"), (Paths{"/a", "/b"}));
}

TEST(PluginFolders, PutGivenOnesBeforeTheVariable) {
  EXPECT_EQ(folders("/variable", {"/first", "/second"}), (Paths{"/first", "/second", "/variable"}));
}

}  // namespace
}  // namespace fedarena
