#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/find_runs.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(RunNames, ArePathsBelowWhatHoldsAllFolders) {
  const Scratch scratch;
  for (const char* run :
       {"runs/one/fedavg-seed-1", "runs/two/fedavg-seed-1", "runs/two/deep/fedavg-seed-2"}) {
    RunDirectory::create(scratch / run, "", "{}", finished("fedavg", 1, 0.5));
  }
  const auto names = [&](const std::vector<fs::path>& folders) {
    return run_names(find_runs(folders), folders);
  };
  EXPECT_THAT(names({scratch / "runs/two"}), ElementsAre("deep/fedavg-seed-2", "fedavg-seed-1"));
  EXPECT_THAT(names({scratch / "runs/one/fedavg-seed-1"}), ElementsAre("fedavg-seed-1"));
  EXPECT_THAT(names({scratch / "runs/one/", scratch / "runs/two/deep"}),
              ElementsAre("one/fedavg-seed-1", "two/deep/fedavg-seed-2"));
}

}  // namespace
}  // namespace fedarena::results
