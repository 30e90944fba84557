// Policies of experiments and of single algorithms.

#include "sample.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

Choice record(double clip_norm, double noise_multiplier) {
  return {"record",
          {{"clip_norm", clip_norm},
           {"noise_multiplier", noise_multiplier},
           {"sampling", std::string("poisson")},
           {"batch", std::int64_t{0}}}};
}

// The sample under [privacy] as given; FedProx, the last, with lines below [algorithms.privacy].
std::string sample_with(const std::string& privacy, const std::string& own) {
  return with("policy = \"none\"\n", privacy) + "[algorithms.privacy]\n" + own;
}

TEST(OwnPrivacy, IsThatOfTheExperimentWhereNoneIsGiven) {
  const Experiment experiment = parse_sample(with("\"none\"", "\"record\"\nclip_norm = 3"));
  EXPECT_EQ(experiment.privacy, record(3, 1));
  for (const AlgorithmEntry& algorithm : experiment.algorithms)
    EXPECT_EQ(algorithm.privacy, experiment.privacy);
}

TEST(OwnPrivacy, InheritsWhatItLeavesOutFromTheSamePolicy) {
  for (const char* own : {"clip_norm = 0.2\n", "policy = \"record\"\nclip_norm = 0.2\n"}) {
    const Experiment experiment =
        parse_sample(sample_with("policy = \"record\"\nclip_norm = 3\nnoise_multiplier = 2\n", own));
    EXPECT_EQ(experiment.privacy, record(3, 2));
    EXPECT_EQ(experiment.algorithms[0].privacy, record(3, 2));
    EXPECT_EQ(experiment.algorithms[1].privacy, record(0.2, 2));
  }
}

// Also settings that both policies have: 0.5 is a bound for messages, not for gradients.
TEST(OwnPrivacy, InheritsNothingFromAnotherPolicy) {
  const Experiment experiment = parse_sample(
      sample_with("policy = \"client\"\nclip_norm = 0.5\n", "policy = \"record\"\nnoise_multiplier = 4\n"));
  EXPECT_EQ(experiment.privacy, (Choice{"client", {{"clip_norm", 0.5}, {"noise_for_epsilon", 0.0}}}));
  EXPECT_EQ(experiment.algorithms[0].privacy, experiment.privacy);
  EXPECT_EQ(experiment.algorithms[1].privacy, record(1, 4));
}

TEST(OwnPrivacy, MayBeNone) {
  const Experiment experiment = parse_sample(sample_with("policy = \"record\"\n", "policy = \"none\"\n"));
  EXPECT_EQ(experiment.algorithms[0].privacy, record(1, 1));
  EXPECT_EQ(experiment.algorithms[1].privacy, (Choice{"none", {}}));
}

TEST(OwnPrivacy, BelongsToTheAlgorithmAboveIt) {
  const std::string text = with("policy = \"none\"", "policy = \"record\"");
  const Experiment header = parse_sample(
      with(text, "label = \"FedAvg\"\n", "label = \"FedAvg\"\n[algorithms.privacy]\nclip_norm = 7\n"));
  EXPECT_EQ(header.algorithms[0].privacy, record(7, 1));
  EXPECT_EQ(header.algorithms[1].privacy, record(1, 1));
  for (const char* line : {"privacy.clip_norm = 7", "privacy = {clip_norm = 7}"}) {
    EXPECT_EQ(parse_sample(with(text, "label = \"FedAvg\"", fmt::format("label = \"FedAvg\"\n{}", line))),
              header)
        << line;
  }
}

TEST(OwnPrivacy, IsGivenByOverrides) {
  const Experiment added = parse_sample(
      kSample, {"privacy.policy=record", "privacy.noise_multiplier=2",
                "algorithms.FedAvg.privacy.clip_norm=0.2", "algorithms.fedprox.privacy.policy=none"});
  EXPECT_EQ(added.privacy, record(1, 2));
  EXPECT_EQ(added.algorithms[0].privacy, record(0.2, 2));
  EXPECT_EQ(added.algorithms[1].privacy, (Choice{"none", {}}));
  const Experiment replaced =
      parse_sample(private_sample(), {"algorithms.fedprox.privacy.clip_norm=0.3",
                                      "algorithms.fedprox.privacy.clip_norm=0.4", "privacy.clip_norm=5"});
  EXPECT_EQ(replaced.algorithms[0].privacy, record(5, 2));
  EXPECT_EQ(replaced.algorithms[1].privacy, record(0.4, 2));
}

TEST(OwnPrivacy, IsGivenByOverridesToLabelsWithDots) {
  const std::string text = with(private_sample(), "label = \"FedAvg\"", "label = \"fedprox.privacy\"");
  const Experiment experiment = parse_sample(
      text, {"algorithms.fedprox.privacy.rate=0.2", "algorithms.fedprox.privacy.privacy.clip_norm=3"});
  EXPECT_EQ(setting(experiment.algorithms[0].settings, "rate"), Value(0.2));
  EXPECT_EQ(experiment.algorithms[0].privacy, record(3, 2));
}

TEST(Rules, HoldForEveryChoice) {
  Catalog catalog = sample_catalog();
  const auto refuse = [](const Settings&) { throw Error::of("no"); };
  const auto message = [&] {
    return refusal(with("[model]\nname = \"convnet\"\nwidth = 64\n", "[model]\nname = \"linear\"\n"), {}, {},
                   catalog);
  };
  EXPECT_EQ(message(), "accepted");
  catalog.algorithms[1].check = refuse;
  EXPECT_EQ(message(), "e.toml:34:1: no");
  catalog.models[1].check = refuse;
  EXPECT_EQ(message(), "e.toml:14:2: no");
  // The default policy of a file without [privacy].
  catalog.policies[0].check = refuse;
  catalog.models[1].check = nullptr;
  catalog.algorithms[1].check = nullptr;
  EXPECT_EQ(refusal(with("[privacy]\npolicy = \"none\"\n", ""), {}, {}, catalog), "e.toml: no");
}

TEST(Rules, RefuseASettingWhereItIsWritten) {
  Catalog catalog = sample_catalog();
  catalog.models[0].check = [](const Settings&) { throw Error::of("width is odd"); };
  EXPECT_EQ(refusal(kSample, {}, {}, catalog), "e.toml:16:9: width is odd");
  EXPECT_EQ(refusal(with("width = 64\n", ""), {}, {}, catalog), "e.toml:14:2: width is odd");
  EXPECT_THAT(refusal(kSample, {"model.width=3"}, {}, catalog), StartsWith("--set model.width=3: "));
}

TEST(RequiredPolicy, AcceptsTheOneThatTheAlgorithmRequires) {
  const std::string text = with(private_sample(), "name = \"fedavg\"", "name = \"dp-fedavg\"");
  EXPECT_EQ(parse_sample(text).algorithms[0].privacy, record(1, 2));
  const Experiment own =
      parse_sample(with("name = \"fedavg\"\n", "name = \"dp-fedavg\"\nprivacy.policy = \"record\"\n"));
  EXPECT_EQ(own.algorithms[0].privacy, record(1, 1));
  EXPECT_EQ(own.privacy.name, "none");
}

TEST(RequiredPolicy, SuggestsOnlyAlgorithmsThatThereAre) {
  Catalog catalog = sample_catalog();
  catalog.algorithms.push_back({"dp-other", "Other.", {}, "client"});
  catalog.algorithms.push_back({"odd", "Odd.", {}, "both"});
  const auto message = [&](const std::string& name) {
    const std::string head = kSample.substr(0, kSample.find("[training]"));
    return refusal(fmt::format("{}[[algorithms]]\nname = \"{}\"\n", head, name), {}, {}, catalog);
  };
  EXPECT_EQ(message("dp-other"),
            "e.toml:28:8: \"dp-other\" requires the privacy policy \"client\" and would run under \"none\"\n"
            "  write [privacy] policy = \"client\"");
  EXPECT_EQ(
      message("odd"),
      "e.toml:28:8: \"odd\" requires the privacy policy \"both\", which does not exist; allowed: \"none\", "
      "\"record\", \"client\"");
}

TEST(OneRound, IsAllThatSomeAlgorithmsMayBeGiven) {
  Catalog catalog = sample_catalog();
  catalog.algorithms.push_back({.name = "once", .summary = "Once.", .fields = {}, .one_round = true});
  const std::string text =
      fmt::format("{}[[algorithms]]\nname = \"once\"\n", kSample.substr(0, kSample.find("[training]")));
  EXPECT_THAT(
      refusal(text, {}, {}, catalog),
      AllOf(StartsWith("e.toml:28:8: \"once\" is done after one round, and the experiment has rounds = "),
            HasSubstr("set experiment.rounds = 1")));
  EXPECT_EQ(refusal(text, {"experiment.rounds=1"}, {}, catalog), "accepted");
}

TEST(RequiredPolicy, CannotBeHiddenByAHyperParameter) {
  Catalog catalog = sample_catalog();
  catalog.algorithms[0].fields[0].name = "privacy";
  EXPECT_THROW(read_grid(parsed(kSample), {}, catalog), Error);
}

}  // namespace
}  // namespace fedarena
