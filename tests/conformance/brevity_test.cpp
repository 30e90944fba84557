// The promise that a new algorithm takes about fifty lines.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/paths.hpp"

namespace fedarena {
namespace {

int lines_of(const std::string& plugin) {
  std::ifstream file(test::source_folder() / "plugins" / plugin / (plugin + ".cpp"));
  int lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  EXPECT_GT(lines, 10) << plugin;
  return lines;
}

TEST(Plugins, AreBrief) {
  EXPECT_LE(lines_of("fedavg"), 60);
  EXPECT_LE(lines_of("fedprox"), 70);
  EXPECT_LE(lines_of("fedsgd"), 60);
  EXPECT_LE(lines_of("fednova"), 110);
  EXPECT_LE(lines_of("fedopt"), 170);  // four algorithms
  EXPECT_LE(lines_of("scaffold"), 110);
}

}  // namespace
}  // namespace fedarena
