// The program and the full one that it becomes.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/program.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The program alone, without the full one beside it.
Start lonely(const Scratch& scratch) {
  const fs::path program = scratch / "bin/fedarena";
  fs::create_directories(program.parent_path());
  fs::copy_file(build_folder() / "bin" / "fedarena", program);
  return {.program = program.string()};
}

TEST(FullProgram, IsNotNeededByLightCommands) {
  const Scratch scratch;
  const Outcome outcome =
      run_program(scratch,
                  {"epsilon", "--noise-multiplier", "1", "--sampling-rate", "0.0256", "--steps", "200",
                   "--delta", "1e-5", "--accountant", "rdp", "--orders", "opacus"},
                  lonely(scratch));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2.7866"));
}

TEST(FullProgram, IsNamedWhereItIsMissing) {
  const Scratch scratch;
  const Start start = lonely(scratch);
  const Outcome outcome = run_program(scratch, {"plugins"}, start);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "fedarena: " + fs::canonical(start.program).string() +
                             "-full: cannot be started: No such file or directory\n  it belongs beside the "
                             "program fedarena: install or build fedarena again\n");
}

TEST(FullProgram, KnowsTheLightCommandsToo) {
  const Scratch scratch;
  const Start full{.program = (build_folder() / "bin" / "fedarena-full").string()};
  const std::vector<std::string> words = {"table", "--help"};
  EXPECT_EQ(run_program(scratch, words, full).out, run_program(scratch, words).out);
}

}  // namespace
}  // namespace fedarena::test
