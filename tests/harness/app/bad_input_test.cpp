// What a user gets to read after a mistake: tests/golden/bad_*.txt, one command line after the other.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/refusals.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(BadInput, CommandLinesAreRefusedWithARemedy) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{}.toml());
  scratch.write("a-file", "");
  expect_golden("bad_command_lines.txt",
                refusals(scratch, {{},
                                   {"--verbose"},
                                   {"rnu", "small.toml"},
                                   {"run"},
                                   {"run", "small.toml", "--worker", "2"},
                                   {"run", "small.toml", "--resmue"},
                                   {"run", "small.toml", "--workers", "0"},
                                   {"run", "small.toml", "--workers", "abc"},
                                   {"run", "small.toml", "--workers"},
                                   {"run", "small.toml", "--device", "gpu"},
                                   {"run", "small.toml", "other.toml"},
                                   {"run", "small.toml", "--set", "training.rate"},
                                   {"run", "small.toml", "--set", "training.rtae=0.1"},
                                   {"run", "small.toml", "--set", "training.rate=-1"},
                                   {"run", "small.toml", "--set", "algorithms.fedagv.rate=1"},
                                   {"run", "small.toml", "--plugin-path", "nowhere"},
                                   {"run", "small.toml", "--out", "a-file"},
                                   {"run", "small.toml", "--out", "a-file/below"},
                                   {"table"},
                                   {"table", "nowhere"},
                                   {"table", "."},
                                   {"table", ".", "--format", "markdwon"},
                                   {"list"},
                                   {"list", "small.toml"},
                                   {"plugins", "fedagv"},
                                   {"plugins", "--plugin-path", "a-file"},
                                   {"help", "experiments"}}));
}

TEST(BadInput, ExperimentFilesAreRefusedWithThePlaceAndTheNearestName) {
  const Scratch scratch;
  const std::string good = SmallExperiment{}.toml();
  scratch.write("small.toml", good);
  scratch.write("empty.toml", "");
  scratch.write("key.toml", good + "raet = 0.1\n");
  scratch.write("section.toml", good + "\n[chort]\nsize = 2\n");
  scratch.write("type.toml", good + "rate = \"fast\"\n");
  scratch.write("twice.toml", good + "\n[[algorithms]]\nname = \"fedavg\"\n");
  scratch.write("private.toml", good + "\n[algorithms.privacy]\npolicy = \"client\"\nclip_nrom = 1\n");
  const std::string profile = good + "\n[profiles.quick]\n\"experiment.rounds\" = 1\n";
  scratch.write("profile.toml", profile);
  scratch.write("typo.toml", profile + "\"training.rtae\" = 0.1\n");
  const auto with = [](const std::string& setting) {
    return std::vector<std::string>{"run", "small.toml", "--out", "out", "--set", setting};
  };
  expect_golden(
      "bad_experiments.txt",
      refusals(scratch, {{"run", "smal.toml"},
                         {"run", "."},
                         {"run", "empty.toml"},
                         {"run", "key.toml"},
                         {"run", "section.toml"},
                         {"run", "type.toml"},
                         {"run", "twice.toml"},
                         with("algorithms.fedavg.name=fedagv"),
                         with("model.name=convent"),
                         with("data.name=glyph"),
                         with("partition.kind=dirichlt"),
                         with("privacy.policy=recrod"),
                         with("privacy.epsilon=3"),
                         with("algorithms.fedavg.privacy.clip_norm=1"),
                         with("algorithms.fedavg.privacy=record"),
                         with("algorithms.fedavg.name=dp-fedavg"),
                         with("algorithms.dp-fedavg.privacy.policy=record"),
                         {"run", "private.toml"},
                         with("algorithms.fedavg.privacy.epsilon=3"),
                         {"run", "private.toml", "--set", "privacy.clip_norm=2"},
                         {"run", "small.toml", "--set", "algorithms.fedavg.privacy.policy=none", "--set",
                          "privacy.policy=record", "--out", "out"},
                         {"run", "profile.toml", "--profile", "quik"},
                         {"run", "small.toml", "--profile", "quick"},
                         {"run", "typo.toml"},
                         with("experiment.rounds=0"),
                         with("cohort.size=5"),
                         with("partition.clients=12001"),
                         {"run", "small.toml", "--set", "partition.kind=classes", "--set",
                          "partition.clients=3", "--set", "partition.classes_per_client=2", "--out", "out"},
                         {"run", "small.toml", "--set", "model.name=convnet", "--set", "model.depth=8",
                          "--out", "out"}}));
}

// The words are those of the TOML library.
TEST(BadInput, SyntaxErrorsAreRefusedWithTheirLine) {
  const Scratch scratch;
  scratch.write("syntax.toml", "[experiment]\nname = \"small\nrounds = 3\n");
  EXPECT_THAT(refusals(scratch, {{"run", "syntax.toml"}}), HasSubstr("\nfedarena: syntax.toml:2:"));
}

TEST(BadInput, DataThatIsMissingOrDamagedIsNamed) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{.data = "mnist"}.toml());
  fs::create_directories(scratch / "empty");
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                           "t10k-labels-idx1-ubyte"}) {
    scratch.write(fs::path("corrupt/mnist") / name, "This is no image.\n");
  }
  std::string text;
  for (const char* folder : {"empty", "corrupt"}) {
    text += refusals(scratch, {{"run", "small.toml", "--out", "out"}},
                     {.environment = {{"FEDARENA_DATA", (scratch / folder).string()}}});
  }
  expect_golden("bad_data.txt", text);
  EXPECT_FALSE(fs::exists(scratch / "out")) << "a run directory was left";
}

TEST(BadInput, CudaWithoutAGpuIsRefused) {
  const Scratch scratch;
  scratch.write("small.toml", SmallExperiment{}.toml());
  const std::vector<std::string> arguments{"run", "small.toml", "--out", "out", "--device", "cuda"};
  const Outcome outcome = run_program(scratch, arguments, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("fedarena: the device \"cuda\" is asked for, but LibTorch sees no GPU\n"
                                     "  Use --device cpu, or configure with a CUDA build of LibTorch"));
}

TEST(BadInput, OutputThatCannotBeWrittenIsAnError) {
  ASSERT_TRUE(fs::exists("/dev/full"));
  const Scratch scratch;
  const Outcome outcome = run_program(scratch, {"plugins"}, {.out = "/dev/full"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "fedarena: the output cannot be written: No space left on device\n");
}

}  // namespace
}  // namespace fedarena::test
