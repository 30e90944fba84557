// Profiles of an experiment file: overrides under a name.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace fedarena {
namespace {

using testing::HasSubstr;
using testing::Not;

Experiment under(const std::string& profile, const std::vector<std::string>& overrides = {},
                 const std::string& text = kProfiled) {
  return read_experiment(parsed(text), overrides, sample_catalog(), profile);
}

std::string refused(const std::string& text, const std::string& profile,
                    const std::vector<std::string>& overrides = {}) {
  try {
    under(profile, overrides, text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// The lines of the profiles, in the text that `kProfiled` is.
constexpr int kSampleLines = 38;

std::string place(int line, int column) { return fmt::format("e.toml:{}:{}: ", kSampleLines + line, column); }

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
  EXPECT_EQ(refused(kProfiled, "quik"),
            "--profile: e.toml has no profile \"quik\"; allowed: quick, wide; did you mean "
            "\"quick\"?");
  EXPECT_EQ(refused(kSample, "quick"),
            "--profile: e.toml has no profile \"quick\"; allowed: none, the file has no profiles");
  EXPECT_THAT(refused(kProfiled, ""), HasSubstr("no profile \"\""));
}

struct ProfileCase {
  std::string text, message;
};

// Each is refused whichever profile is chosen, and when none is.
TEST(Profile, PointsAtItsMistakesWhetherItIsChosenOrNot) {
  const auto profiled = [](const std::string& piece, const std::string& replacement) {
    return with(kProfiled, piece, replacement);
  };
  for (const ProfileCase& wrong : std::vector<ProfileCase>{
           {profiled("\"experiment.rounds\" = 2", "\"experiment.ruonds\" = 2"),
            place(3, 1) + "unknown key \"ruonds\" in [experiment]; allowed: name, seeds, rounds, device, "
                          "dtype; did you mean \"rounds\"?"},
           {profiled("\"experiment.rounds\" = 2", "\"experiment.rounds\" = 0"),
            place(3, 23) + "rounds is 0; allowed: an integer from 1 to 1000000"},
           {profiled("\"experiment.rounds\" = 2", "\"experiment.rounds\" = \"2\""),
            place(3, 23) + "rounds is \"2\" (a string); allowed: an integer from 1 to 1000000"},
           {profiled("= [7]", "= [7, 8, 7]"),
            place(4, 29) + "seed 7 is listed twice; allowed: a list of integers >= 0, distinct, at least "
                           "one"},
           {profiled("fedprox.mu", "fedporx.mu"),
            place(5, 1) + "no algorithm is labelled \"fedporx\"; allowed: FedAvg, fedprox; did you "
                          "mean \"fedprox\"?\n  write algorithms.LABEL.key=value"},
           {profiled("\"evaluation.every\" = 1", "\"evalation.every\" = 1"),
            place(6, 1) + "unknown section \"evalation\"; allowed: [experiment], [data], [partition], "
                          "[model], [cohort], [evaluation], [stopping], [privacy], [training], "
                          "[[algorithms]], [sweep], [tuning]; did you "
                          "mean \"evaluation\"?"},
           {profiled("\"evaluation.every\" = 1", "\"rounds\" = 1"),
            place(6, 1) + "\"rounds\" stands outside every section; allowed: [experiment], [data], "
                          "[partition], [model], [cohort], [evaluation], [stopping], [privacy], [training], "
                          "[[algorithms]], [sweep], [tuning]\n  \"rounds\" belongs in [experiment]"},
           {profiled("\"evaluation.every\" = 1", "evaluation.every = 1"),
            place(6, 1) + "\"evaluation\" is a table; allowed: \"section.key\" = value or "
                          "\"algorithms.LABEL.key\" = value, with the path in quotes"},
           {profiled("\"evaluation.every\" = 1", "\"evaluation\" = 1"),
            place(6, 1) + "no key; allowed: \"section.key\" = value or \"algorithms.LABEL.key\" = value, "
                          "with the path in quotes"},
           {profiled("\"evaluation.every\" = 1", "\"profiles.wide\" = 1"),
            place(6, 1) + "an override of a profile; allowed: \"section.key\" = value or "
                          "\"algorithms.LABEL.key\" = value, with the path in quotes\n"
                          "  choose a profile with --profile NAME"},
           {profiled("\"evaluation.every\" = 1", "\"cohort.fraction\" = 0.5"),
            place(6, 1) + "both size and fraction are given; allowed: one of them\n  leave one out, or set "
                          "it to 0"},
           {profiled("\"evaluation.every\" = 1", "\"privacy.epsilon\" = 1"),
            place(6, 1) + "unknown key \"epsilon\" in [privacy]; allowed: policy\n  the ledger computes "
                          "epsilon; no file can state it"},
           {profiled("[profiles.quick]", "[profiles.\"../up\"]"),
            place(2, 11) + "\"../up\" is not safe as a folder name; allowed: letters, digits, '-', '_' and "
                           "'.', beginning with a letter or digit, at most 100"},
           {profiled("[profiles.wide]\n\"model.width\" = 256", "[profiles]\nwide = 1"),
            place(9, 1) + "the profile \"wide\" is an integer; allowed: a section\n  write [profiles.NAME], "
                          "once for each profile"},
           {kSample + "[[profiles]]\nx = 1\n",
            place(1, 3) + "\"profiles\" is no section\n  write [profiles.NAME], once for each profile"},
           {profiled("[profiles.wide]", "[profile.wide]"),
            place(8, 2) + "unknown section \"profile\"; allowed: [experiment], [data], [partition], [model], "
                          "[cohort], [evaluation], [stopping], [privacy], [training], [[algorithms]], "
                          "[sweep], [tuning], [profiles.NAME]; "
                          "did you mean \"profiles\"?"},
       }) {
    EXPECT_EQ(refusal(wrong.text), wrong.message) << wrong.text.substr(kSample.size());
    EXPECT_NE(refused(wrong.text, "quick"), "accepted") << wrong.text.substr(kSample.size());
    EXPECT_NE(refused(wrong.text, "wide"), "accepted") << wrong.text.substr(kSample.size());
  }
}

TEST(Profile, MakesANameThatFitsAFolder) {
  const std::string longest(100, 'n');
  EXPECT_THAT(refused(with(kProfiled, "\"quickstart\"", "\"" + longest.substr(6) + "\""), "quick"),
              "accepted");
  EXPECT_EQ(refused(with(kProfiled, "\"quickstart\"", "\"" + longest.substr(5) + "\""), "quick"),
            place(2, 11) + "\"" + longest.substr(5) +
                "-quick\" is not safe as a folder name; allowed: letters, digits, '-', '_' and '.', "
                "beginning with a letter or digit, at most 100");
}

TEST(Profile, IsOneOfAHundredAtMost) {
  std::string text = kSample;
  for (int index = 0; index < 100; ++index) text += fmt::format("[profiles.p{}]\n", index);
  EXPECT_EQ(refusal(text), "accepted");
  EXPECT_EQ(refusal(text + "[profiles.more]\n"),
            place(101, 11) + "more than 100 profiles; allowed: at most 100");
}

TEST(Profile, IsNoTargetOfOverrides) {
  EXPECT_EQ(refusal(kProfiled, {"profiles.quick.experiment.rounds=3"}),
            "--set profiles.quick.experiment.rounds=3: an override of a profile; allowed: section.key=value "
            "or algorithms.LABEL.key=value\n  choose a profile with --profile NAME");
}

}  // namespace
}  // namespace fedarena
