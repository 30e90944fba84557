// The number of workers changes the time, never a bit of the result.
#include <string>

#include <gtest/gtest.h>

#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

struct Case {
  std::string name;
  SmallExperiment experiment;
};

class Workers : public testing::TestWithParam<Case> {};

TEST_P(Workers, GiveTheSameBits) {
  const Scratch scratch;
  SmallExperiment experiment = GetParam().experiment;
  experiment.algorithms = {"fedavg", "fedprox", "scaffold"};
  scratch.write("small.toml", experiment.toml());
  for (const std::string workers : {"1", "2", "7"}) {
    const Outcome outcome =
        run_program(scratch, {"run", "small.toml", "--out", "workers-" + workers, "--workers", workers});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  for (const std::string& algorithm : experiment.algorithms) {
    const std::string cell = algorithm + "-seed-1";
    expect_same_run(scratch / "workers-1" / cell, scratch / "workers-2" / cell);
    expect_same_run(scratch / "workers-1" / cell, scratch / "workers-7" / cell);
  }
}

// Batches of 40 make several micro-batches, the last one smaller.
const std::string kTraining = "local_steps = 3\nbatch_size = 40\nrate = 0.05\nmomentum = 0.5";
const std::string kConvNet = "name = \"convnet\"\nwidth = 4";
const std::string kUnequal = "kind = \"dirichlet\"\nclients = 6\nalpha = 0.5";

INSTANTIATE_TEST_SUITE_P(
    EveryAlgorithm, Workers,
    testing::Values(Case{"LogisticFullCohort", {.training = kTraining}},
                    Case{"LogisticPartialCohort",
                         {.partition = kUnequal, .cohort = "size = 3", .training = kTraining}},
                    Case{"ConvNetFullCohort",
                         {.rounds = 2, .model = kConvNet, .evaluate_every = 2, .training = kTraining}},
                    Case{"ConvNetPartialCohort",
                         {.rounds = 2,
                          .partition = kUnequal,
                          .model = kConvNet,
                          .cohort = "fraction = 0.5",
                          .evaluate_every = 2,
                          .training = kTraining}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fedarena::test
