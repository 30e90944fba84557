// Overrides, and profiles of an experiment file: overrides under a name.
#include <string>
#include <vector>

#include "sample.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

Experiment under(const std::string& profile, const std::vector<std::string>& overrides = {},
                 const std::string& text = kProfiled) {
  return read_grid(parsed(text), overrides, sample_catalog(), profile).front().experiment;
}

TEST(Profile, GoesOverWhatTheFileSays) {
  Experiment expected = parse_sample(kSample, {"experiment.rounds=2", "experiment.seeds=[7]",
                                               "algorithms.fedprox.mu=0", "evaluation.every=1"});
  expected.name = "quickstart-quick";
  EXPECT_EQ(under("quick"), expected);
}

TEST(Profile, IsOnlyThereWhenChosen) { EXPECT_EQ(parse_sample(kProfiled), parse_sample(kSample)); }

TEST(Profile, GivesWayToOverrides) {
  const Experiment experiment = under("quick", {"experiment.rounds=9", "experiment.name=mine"});
  EXPECT_EQ(experiment.rounds, 9);
  EXPECT_EQ(experiment.seeds, (std::vector<std::int64_t>{7}));
  EXPECT_EQ(experiment.name, "mine-quick");
}

TEST(Profile, AddsSectionsAndReachesAnAlgorithmsOwn) {
  const std::string text = with("[evaluation]\nevery = 2\n", "") +
                           "[profiles.private]\n\"algorithms.FedAvg.privacy.policy\" = \"record\"\n"
                           "\"evaluation.every\" = 5\n";
  const Experiment experiment = under("private", {}, text);
  EXPECT_EQ(experiment.algorithms[0].privacy.name, "record");
  EXPECT_EQ(experiment.algorithms[1].privacy.name, "none");
  EXPECT_EQ(experiment.evaluation.every, 5);
  EXPECT_EQ(parse_sample(text).algorithms[0].privacy.name, "none");
}

TEST(Profile, LeavesNoTraceInTheRecordedExperiment) {
  const std::string recorded = to_toml(under("quick"));
  EXPECT_THAT(recorded, Not(HasSubstr("profile")));
  EXPECT_EQ(parse_sample(recorded), under("quick"));
}

TEST(Profile, ThatIsUnknownIsRefusedWithThoseThatThereAre) {
  EXPECT_EQ(refusal(kProfiled, {}, "quik"),
            "--profile: e.toml has no profile \"quik\"; allowed: quick, wide; did you mean "
            "\"quick\"?");
  EXPECT_EQ(refusal(kSample, {}, "quick"),
            "--profile: e.toml has no profile \"quick\"; allowed: none, the file has no profiles");
  EXPECT_THAT(refusal(kProfiled, {}, ""), HasSubstr("no profile \"\""));
}

TEST(Profile, MakesANameThatFitsAFolder) {
  const std::string longest(100, 'n');
  EXPECT_THAT(refusal(with(kProfiled, "\"quickstart\"", "\"" + longest.substr(6) + "\""), {}, "quick"),
              "accepted");
  EXPECT_EQ(refusal(with(kProfiled, "\"quickstart\"", "\"" + longest.substr(5) + "\""), {}, "quick"),
            "e.toml:40:11: \"" + longest.substr(5) +
                "-quick\" is not safe as a folder name; allowed: letters, digits, '-', '_' and '.', "
                "beginning with a letter or digit, at most 100");
}

TEST(Profile, IsOneOfAHundredAtMost) {
  std::string text = kSample;
  for (int index = 0; index < 100; ++index) text += fmt::format("[profiles.p{}]\n", index);
  EXPECT_EQ(refusal(text), "accepted");
  EXPECT_EQ(refusal(text + "[profiles.more]\n"),
            "e.toml:139:11: more than 100 profiles; allowed: at most 100");
}

TEST(Override, ReplacesWhatTheFileSays) {
  const Experiment experiment = parse_sample(
      kSample, {"experiment.rounds=5", "model.width = 32", "experiment.device=cuda:1", "cohort.size=0",
                "experiment.seeds=[7, 8]", "experiment.name=other-run_2.b", "partition.clients=3"});
  EXPECT_EQ(experiment.rounds, 5);
  EXPECT_EQ(setting(experiment.model.settings, "width"), Value(std::int64_t{32}));
  EXPECT_EQ(experiment.device, "cuda:1");
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

TEST(Override, IsOneLineOfText) {
  EXPECT_EQ(refusal(kSample, {"experiment.rounds=1\ndevice=\"cuda\""}),
            "--set: text with unprintable bytes; allowed: one line of UTF-8");
}

}  // namespace
}  // namespace fedarena
