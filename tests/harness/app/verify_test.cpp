// `fedarena verify` on what the program wrote and on what was done to it since.
#include "results/audit/verify.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedarena/base/stream.hpp"

#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"
#include "tests/harness/app/program.hpp"
#include "tests/harness/app/small_experiment.hpp"

namespace fedarena::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

using VerifyCommand = ScratchTest;

TEST_F(VerifyCommand, CountsWhatItRecomputedAndFailsOnADifference) {
  const std::string shared = "policy none, which claims no epsilon, and none is recorded\n";
  run_small(scratch, {.seeds = "[1, 2]"});
  EXPECT_THAT(
      succeed("verify out/fedavg-seed-1").out,
      MatchesRegex("note: out/fedavg-seed-1: " + shared + "verified: 1 run, [0-9]+ values, 0 differences\n"));
  EXPECT_THAT(succeed("verify out").out, MatchesRegex("note: 2 runs, out/fedavg-seed-1 the first: " + shared +
                                                      "verified: 2 runs, [0-9]+ values, 0 differences\n"));
  results::Summary summary = summary_of(scratch / "out/fedavg-seed-1");
  summary.final_test_accuracy = 0.85;
  results::RunDirectory::open(scratch / "out/fedavg-seed-1").write_summary(summary);
  const Outcome bad = call("verify out");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(
      bad.out,
      HasSubstr("differs: out/fedavg-seed-1/summary.json: final_test_accuracy is 0.85; recomputed: "));
  EXPECT_THAT(bad.err, HasSubstr("fedarena: the records hold "));
}

// Algorithms under each policy whose ledgers `verify` computes from the experiment file.
TEST_F(VerifyCommand, FindsNothingInRunsUnderAnyPolicy) {
  const auto entry = [](const std::string& label, const std::string& settings, const std::string& privacy) {
    return "\n[[algorithms]]\nlabel = \"" + label + "\"\n" + settings + "\n[algorithms.privacy]\n" + privacy +
           "\n";
  };
  const std::string record = "policy = \"record\"\nnoise_multiplier = 1.5\n";
  const std::string client = "policy = \"client\"\nnoise_multiplier = 2.0\n";
  const std::string fixed = "sampling = \"without-replacement\"\nassume = \"poisson\"\n";
  const std::string fedavg = "name = \"fedavg\"\nweighting = \"uniform\"";
  run_small(scratch,
            {.partition = "kind = \"dirichlet\"\nalpha = 0.3\nclients = 5",
             .cohort = "size = 3",
             .training = "local_epochs = 1\nbatch_size = 400\nrate = 0.05",
             .algorithms = {},
             .more = entry("poisson", "name = \"dp-fedavg\"", record) +
                     entry("fixed", "name = \"dp-fedavg\"", record + fixed) +
                     entry("whole", "name = \"dp-fedprox\"\nbatch_size = 0\nlocal_epochs = 2", record) +
                     entry("system", "name = \"fedavg\"", record + "noise_source = \"system\"") +
                     entry("one-gradient", "name = \"fedsgd\"", record) +
                     entry("control", "name = \"scaffold\"\noption = \"I\"\nlocal_steps = 2", record) +
                     entry("walks",
                           "name = \"fedlap-dp\"\ntrajectories = 2\nouter_steps = 2\nreal_batches = 1\n"
                           "image_updates = 1\nmodel_steps = 1\nimages_per_class = 1\nserver_epochs = 1\n"
                           "augmentation = \"none\"",
                           record) +
                     entry("clients", fedavg, client) + entry("clients-fixed", fedavg, client + fixed) +
                     entry("adaptive", fedavg, client + "adaptive_clipping = true\ncount_noise = 3.0") +
                     entry("as-if", fedavg, client + "as_if_cohort = 30\nas_if_population = 300") +
                     entry("none", fedavg, "policy = \"none\"")});
  EXPECT_THAT(succeed("verify out").out, HasSubstr("verified: 12 runs, "));
}

// A flipped byte in any file, and the file is named, also where it can no longer be read.
TEST_F(VerifyCommand, NamesTheFileOfEveryFlippedByte) {
  run_small(scratch, {.more = "\n[algorithms.privacy]\npolicy = \"record\"\n"});
  const fs::path run = scratch / "out/fedavg-seed-1";
  Stream draws({.seed = 1, .purpose = Purpose::kAlgorithm});
  results::Seal files = results::current_seal(run);
  files[results::kSealFile] = "";
  for (const auto& [name, digest] : files) {
    const std::string whole = content_of(run / name);
    for (int i = 0; i < 2; ++i) {
      std::string flipped = whole;
      const std::size_t at = draws.below(whole.size());
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << draws.below(7)));
      scratch.write(run / name, flipped);
      const Outcome outcome = call("verify out");
      EXPECT_EQ(outcome.exit_code, 2) << name << ", " << at;
      EXPECT_THAT(outcome.out, HasSubstr(name)) << at;
      EXPECT_THAT(outcome.err, HasSubstr("Records were edited or damaged"));
    }
    scratch.write(run / name, whole);
  }
  succeed("verify out");
}

// Nothing but `verify` and `bundle` looks at a seal.
TEST_F(VerifyCommand, IsTheOneToComplainAboutADamagedSeal) {
  run_small(scratch, {.seeds = "[1, 2]"});
  for (const std::string& seal :
       {std::string(), std::string("{"), std::string("{\"schema\": 2}\n"),
        std::string("{\"schema\": 1, \"files\": {\"../x\": \"y\"}}\n"), std::string(100'000, ' ')}) {
    scratch.write("out/fedavg-seed-1/seal.json", seal);
    for (const char* command : {"table out", "list out", "compare out", "privacy out/fedavg-seed-1",
                                "report out -o report.html", "run small.toml --out out --resume"})
      EXPECT_NE(call(command).exit_code, 1) << command;
    succeed("table out");
    const Outcome outcome = call("verify out");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.out, HasSubstr("broken: out/fedavg-seed-1/seal.json"));
    EXPECT_THAT(refused("bundle out -o a.tar.gz"), HasSubstr("out/fedavg-seed-1/seal.json"));
  }
  fs::remove(scratch / "out/fedavg-seed-1/seal.json");
  EXPECT_THAT(call("verify out").out,
              HasSubstr("out/fedavg-seed-1/seal.json: the seal of a finished run is missing; recomputed: "));
}

}  // namespace
}  // namespace fedarena::test
