#include <gtest/gtest.h>

#include "sample.hpp"

namespace fedarena {
namespace {

TEST(Override, ReplacesWhatTheFileSays) {
  const Experiment experiment = parse_sample(
      kSample, {"experiment.rounds=5", "model.width = 32", "experiment.device=cuda", "cohort.size=0",
                "experiment.seeds=[7, 8]", "experiment.name=other-run_2.b", "partition.clients=3"});
  EXPECT_EQ(experiment.rounds, 5);
  EXPECT_EQ(setting(experiment.model.settings, "width"), Value(std::int64_t{32}));
  EXPECT_EQ(experiment.device, "cuda");
  EXPECT_EQ(experiment.seeds, (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(experiment.name, "other-run_2.b");
  EXPECT_EQ(experiment.cohort_size(3), 3);
}

TEST(Override, TheLastOneWins) {
  EXPECT_EQ(parse_sample(kSample, {"experiment.rounds=5", "experiment.rounds=6"}).rounds, 6);
}

TEST(Override, AddsKeysAndSectionsThatTheFileLeavesOut) {
  const Experiment experiment = parse_sample(with("[privacy]\npolicy = \"none\"\n", ""),
                                             {"privacy.policy=none", "experiment.dtype=float64"});
  EXPECT_EQ(experiment.privacy.name, "none");
  EXPECT_EQ(experiment.dtype, "float64");
}

TEST(Override, FindsAnAlgorithmByItsLabel) {
  const Experiment experiment =
      parse_sample(kSample, {"algorithms.FedAvg.rate=0.2", "algorithms.fedprox.mu=0"});
  EXPECT_EQ(setting(experiment.algorithms[0].settings, "rate"), Value(0.2));
  EXPECT_EQ(setting(experiment.algorithms[1].settings, "mu"), Value(0.0));
}

TEST(Override, FindsLabelsWithDots) {
  const std::string text = with("label = \"FedAvg\"", "label = \"fedprox.0\"");
  for (const char* path : {"algorithms.fedprox.0.rate=0.2", "algorithms.\"fedprox.0\".rate=0.2"}) {
    EXPECT_EQ(setting(parse_sample(text, {path}).algorithms[0].settings, "rate"), Value(0.2)) << path;
  }
}

TEST(Override, ChangesTrainingForThoseWithoutTheirOwn) {
  const Experiment experiment = parse_sample(kSample, {"training.rate=0.1"});
  EXPECT_EQ(setting(experiment.algorithms[0].settings, "rate"), Value(0.1));
  EXPECT_EQ(setting(experiment.algorithms[1].settings, "rate"), Value(0.25));
}

struct OverrideCase {
  const char* text;
  const char* message;
};

TEST(Override, SaysWhatIsWrongWithIt) {
  for (const OverrideCase& wrong : std::vector<OverrideCase>{
           {"experiment.ruonds=5",
            "--set experiment.ruonds=5: unknown key \"ruonds\" in [experiment]; allowed: name, seeds, "
            "rounds, device, "
            "dtype; did you mean \"rounds\"?"},
           {"experimnt.rounds=5",
            "--set experimnt.rounds=5: unknown section \"experimnt\"; allowed: [experiment], [data], "
            "[partition], "
            "[model], [cohort], [evaluation], [stopping], [privacy], [training], [[algorithms]], [sweep], "
            "[tuning]; "
            "did you mean "
            "\"experiment\"?"},
           {"rounds=5",
            "--set rounds=5: \"rounds\" stands outside every section; allowed: [experiment], [data], "
            "[partition], "
            "[model], [cohort], [evaluation], [stopping], [privacy], [training], [[algorithms]], [sweep], "
            "[tuning]\n"
            "  \"rounds\" belongs in [experiment]"},
           {"experiment=5",
            "--set experiment=5: no key; allowed: section.key=value or algorithms.LABEL.key=value"},
           {"experiment.rounds",
            "--set experiment.rounds: no \"=\"; allowed: section.key=value or algorithms.LABEL.key=value"},
           {"experiment.rounds=0",
            "--set experiment.rounds=0: rounds is 0; allowed: an integer from 1 to 1000000"},
           {"experiment.rounds=many",
            "--set experiment.rounds=many: rounds is \"many\" (a string); allowed: an integer from 1 to "
            "1000000"},
           {"experiment.seeds=[1, 1]",
            "--set experiment.seeds=[1, 1]: seed 1 is listed twice; allowed: a list of integers >= 0, "
            "distinct, at least one"},
           {"experiment.rounds=",
            "--set experiment.rounds=: \"\" is no value; allowed: a value as TOML writes it, such as 5, 0.1, "
            "true, "
            "\"text\" or [1, 2]; or a bare word"},
           {"experiment.seeds=[1, 2",
            "--set experiment.seeds=[1, 2: \"[1, 2\" is no value; allowed: a value as TOML writes it, such "
            "as 5, 0.1, "
            "true, \"text\" or [1, 2]; or a bare word"},
           {"experiment.rounds=1\ndevice=\"cuda\"",
            "--set: text with unprintable bytes; allowed: one line of UTF-8"},
           {"algorithms.FedAvgg.rate=1",
            "--set algorithms.FedAvgg.rate=1: no algorithm is labelled \"FedAvgg\"; allowed: FedAvg, "
            "fedprox; did you "
            "mean \"FedAvg\"?\n  write algorithms.LABEL.key=value"},
           {"algorithms.FedAvg.rat=1",
            "--set algorithms.FedAvg.rat=1: unknown key \"rat\" in [[algorithms]]; allowed: name, label, "
            "privacy, rate, "
            "batch_size; did you mean \"rate\"?"},
           {"training.mue=1",
            "--set training.mue=1: unknown key \"mue\" in [training]; allowed: rate, batch_size, mu, "
            "average, "
            "nesterov; did you mean \"mu\"?"},
           {"privacy.epsilon=1",
            "--set privacy.epsilon=1: unknown key \"epsilon\" in [privacy]; allowed: policy\n"
            "  the ledger computes epsilon; no file can state it"},
       }) {
    EXPECT_EQ(refusal(kSample, {wrong.text}), wrong.message);
  }
}

TEST(Override, IsRefusedWhereItWouldHaveNoEffect) {
  EXPECT_EQ(refusal(with("label = \"FedAvg\"", "rate = 1"), {"training.rate=0.1"}),
            "--set training.rate=0.1: no effect: every algorithm that has \"rate\" sets its own\n"
            "  write algorithms.LABEL.rate=value");
}

}  // namespace
}  // namespace fedarena
