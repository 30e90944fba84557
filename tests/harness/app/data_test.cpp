// That models learn what the documentation of the data promises.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/paths.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;

// The folder with the published files, or an empty path.
fs::path data_real_data() {
  const fs::path folder = data_folder();
  return fs::exists(folder / "mnist") ? fs::canonical(folder) : fs::path();
}

double final_accuracy(const Scratch& scratch, const SmallExperiment& experiment, const Start& start = {}) {
  scratch.write("small.toml", experiment.toml());
  const Outcome outcome = run_program(scratch, {"run", "small.toml", "--out", "out"}, start);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return summary_of(scratch / "out/fedavg-seed-1").final_test_accuracy.value_or(0);
}

// One client with all examples: federated averaging is then plain SGD.
const std::string kCentral = "kind = \"iid\"\nclients = 1";

TEST(Data, GlyphsAreTooHardForALinearClassifier) {
  const Scratch scratch;
  const double accuracy =
      final_accuracy(scratch, {.rounds = 10,
                               .partition = kCentral,
                               .evaluate_every = 10,
                               .training = "local_epochs = 1\nbatch_size = 64\nrate = 0.02"});
  EXPECT_GT(accuracy, 0.60);
  EXPECT_LT(accuracy, 0.92);
}

// A narrower network than the documented one, so that its accuracy is a lower bound in a fraction of the
// time.
TEST(Data, GlyphsAreEasyForAConvNet) {
  const Scratch scratch;
  const double accuracy =
      final_accuracy(scratch, {.rounds = 1,
                               .partition = kCentral,
                               .model = "name = \"convnet\"\nwidth = 16",
                               .training = "local_epochs = 1\nbatch_size = 64\nrate = 0.1\nmomentum = 0.9"});
  EXPECT_GT(accuracy, 0.97);
}

TEST(Data, MnistIsLearntFromThePublishedFiles) {
  const fs::path data = data_real_data();
  if (data.empty()) {
    std::puts(
        "MNIST is not here, so nothing was run on it; FEDARENA_TEST_DATA names the folder above mnist/.");
    return;
  }
  const Scratch scratch;
  const double accuracy =
      final_accuracy(scratch, {.data = "mnist", .training = "local_steps = 20\nbatch_size = 16\nrate = 0.05"},
                     {.environment = {{"FEDARENA_DATA", data.string()}}});
  EXPECT_GT(accuracy, 0.60);
  EXPECT_LT(accuracy, 0.95);
}

}  // namespace
}  // namespace fedarena::test
