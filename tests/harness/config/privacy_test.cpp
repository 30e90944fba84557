// Policies of experiments and of single algorithms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace fedarena {
namespace {

using testing::HasSubstr;

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
  EXPECT_EQ(experiment.privacy, (Choice{"client", {{"clip_norm", 0.5}}}));
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

struct PrivacyCase {
  std::string text;
  std::string message;
};

TEST(OwnPrivacy, PointsAtMistakes) {
  const std::string under_record = "policy = \"record\"\n";
  for (const PrivacyCase& wrong : std::vector<PrivacyCase>{
           {sample_with(under_record, "  clip_nrom = 1\n"),
            "e.toml:40:3: unknown key \"clip_nrom\" in [algorithms.privacy]; allowed: policy, clip_norm, "
            "noise_multiplier, sampling, batch; did you mean \"clip_norm\"?"},
           {sample_with(under_record, "clip_norm = \"small\"\n"),
            "e.toml:40:13: clip_norm is \"small\" (a string); allowed: a number > 0"},
           {sample_with(under_record, "clip_norm = -1\n"),
            "e.toml:40:13: clip_norm is -1; allowed: a number > 0"},
           {sample_with(under_record, "policy = \"recrod\"\n"),
            "e.toml:40:10: policy is \"recrod\"; allowed: \"none\", \"record\", \"client\"; did you mean "
            "\"record\"?"},
           {sample_with(under_record, "policy = \"\"\n"),
            "e.toml:40:10: policy is \"\"; allowed: \"none\", \"record\", \"client\""},
           {sample_with("", "clip_norm = 1\n"),
            "e.toml:39:1: unknown key \"clip_norm\" in [algorithms.privacy]; allowed: policy\n"
            "  \"clip_norm\" belongs in [algorithms.privacy] with policy = \"record\" or \"client\""},
           {sample_with(under_record, "rounds = 1\n"),
            "e.toml:40:1: unknown key \"rounds\" in [algorithms.privacy]; allowed: policy, clip_norm, "
            "noise_multiplier, sampling, batch\n  \"rounds\" belongs in [experiment]"},
           {sample_with(under_record, "record.clip_norm = 1\n"),
            "e.toml:40:1: unknown key \"record\" in [algorithms.privacy]; allowed: policy, clip_norm, "
            "noise_multiplier, sampling, batch"},
           {with("label = \"FedAvg\"", "batch = 3"),
            "e.toml:33:1: unknown key \"batch\" in [[algorithms]]; allowed: name, label, privacy, rate, "
            "batch_size\n"
            "  \"batch\" belongs in [algorithms.privacy] with policy = \"record\""},
           {kSample + "[algorithms.privcy]\n",
            "e.toml:39:13: unknown key \"privcy\" in [[algorithms]]; allowed: name, label, privacy, rate, "
            "batch_size, mu, average, nesterov; did you mean \"privacy\"?"},
           {kSample + "privacy = \"record\"\n",
            "e.toml:39:11: privacy is \"record\"; allowed: a section\n"
            "  write [algorithms.privacy] below the algorithm, with policy"},
           {kSample + "[[algorithms.privacy]]\npolicy = \"record\"\n",
            "e.toml:39:1: privacy is a list with a table in it; allowed: a section\n"
            "  write [algorithms.privacy] below the algorithm, with policy"},
       }) {
    EXPECT_EQ(refusal(wrong.text), wrong.message) << wrong.text;
  }
}

TEST(OwnPrivacy, CannotStateEpsilon) {
  for (const char* key : {"epsilon = 1", "Epsilon = 1", "epsilon.record = 1"}) {
    EXPECT_THAT(refusal(private_sample() + key),
                HasSubstr("\n  the ledger computes epsilon; no file can state it"))
        << key;
  }
  EXPECT_EQ(refusal(private_sample(), {"algorithms.fedprox.privacy.epsilon=1"}),
            "--set algorithms.fedprox.privacy.epsilon=1: unknown key \"epsilon\" in [algorithms.privacy]; "
            "allowed: policy, clip_norm, noise_multiplier, sampling, batch\n"
            "  the ledger computes epsilon; no file can state it");
}

TEST(OwnPrivacy, PointsAtMistakesInOverrides) {
  for (const PrivacyCase& wrong : std::vector<PrivacyCase>{
           {"algorithms.fedprox.privacy.clip_nrom=1",
            "--set algorithms.fedprox.privacy.clip_nrom=1: unknown key \"clip_nrom\" in "
            "[algorithms.privacy]; "
            "allowed: policy, clip_norm, noise_multiplier, sampling, batch; did you mean \"clip_norm\"?"},
           {"algorithms.FedAvg.privacy.clip_norm=0",
            "--set algorithms.FedAvg.privacy.clip_norm=0: clip_norm is 0; allowed: a number > 0"},
           {"algorithms.FedAvg.privcy.clip_norm=1",
            "--set algorithms.FedAvg.privcy.clip_norm=1: unknown key \"privcy.clip_norm\" in [[algorithms]]; "
            "allowed: name, label, privacy, rate, batch_size"},
           {"algorithms.FedAvgg.privacy.clip_norm=1",
            "--set algorithms.FedAvgg.privacy.clip_norm=1: no algorithm is labelled \"FedAvgg\"; allowed: "
            "FedAvg, "
            "fedprox; did you mean \"FedAvg\"?\n  write algorithms.LABEL.key=value"},
           {"algorithms.fedprox.privacy=record",
            "--set algorithms.fedprox.privacy=record: privacy is \"record\"; allowed: a section\n"
            "  write [algorithms.privacy] below the algorithm, with policy"},
       }) {
    EXPECT_EQ(refusal(private_sample(), {wrong.text}), wrong.message);
  }
  EXPECT_EQ(
      refusal(private_sample(), {"algorithms.fedprox.privacy=1", "algorithms.fedprox.privacy.clip_norm=1"}),
      "--set algorithms.fedprox.privacy=1: privacy is 1; allowed: a section\n"
      "  write [algorithms.privacy] below the algorithm, with policy");
}

TEST(SharedPrivacy, IsRefusedAsAnOverrideWithoutEffect) {
  const auto none_takes = [](const std::string& override_text, const std::string& key) {
    return fmt::format(
        "--set {}: no effect: no algorithm takes \"{}\" from [privacy]\n"
        "  write algorithms.LABEL.privacy.{}=value",
        override_text, key, key);
  };
  const std::string all_clip =
      with(private_sample(), "label = \"FedAvg\"\n", "label = \"FedAvg\"\nprivacy.clip_norm = 1\n");
  EXPECT_EQ(refusal(all_clip, {"privacy.clip_norm=2"}), none_takes("privacy.clip_norm=2", "clip_norm"));
  EXPECT_EQ(refusal(all_clip, {"privacy.noise_multiplier=3"}), "accepted");
  EXPECT_EQ(refusal(all_clip, {"privacy.policy=record"}), "accepted");
  EXPECT_EQ(refusal(private_sample(), {"privacy.clip_norm=2"}), "accepted");

  const std::string all_choose =
      with("label = \"FedAvg\"\n", "label = \"FedAvg\"\nprivacy.policy = \"client\"\n") +
      "privacy.policy = \"record\"\n";
  EXPECT_EQ(refusal(all_choose, {"privacy.policy=client"}), none_takes("privacy.policy=client", "policy"));
  EXPECT_EQ(refusal(all_choose, {"privacy.policy=client", "privacy.clip_norm=3"}), "accepted");
  const std::string other = with(all_choose, "policy = \"none\"", "policy = \"record\"");
  EXPECT_EQ(refusal(other, {"privacy.batch=3"}), "accepted");
  EXPECT_EQ(refusal(with(other, "policy = \"record\"\n\n[training]", "policy = \"client\"\n\n[training]"),
                    {"privacy.clip_norm=3"}),
            "accepted");
  EXPECT_EQ(
      refusal(with(other, "privacy.policy = \"record\"", "privacy.policy = \"none\""), {"privacy.batch=3"}),
      none_takes("privacy.batch=3", "batch"));
}

TEST(SharedPrivacy, IsCheckedThoughNobodyTakesIt) {
  EXPECT_EQ(refusal(with("policy = \"none\"", "policy = \"record\"\nclip_norm = 0")),
            "e.toml:26:13: clip_norm is 0; allowed: a number > 0");
}

TEST(Rules, ThatSpanSettingsAreReportedWithTheSection) {
  const std::string message = "sampling is \"fixed\" without a batch\n  give batch";
  EXPECT_EQ(refusal(with("policy = \"none\"", "policy = \"record\"\nsampling = \"fixed\"")),
            "e.toml:24:2: " + message);
  EXPECT_EQ(refusal(private_sample() + "sampling = \"fixed\"\n"), "e.toml:40:13: " + message);
  EXPECT_EQ(refusal(private_sample() + "sampling = \"fixed\"\nbatch = 3\n"), "accepted");
  EXPECT_EQ(refusal(private_sample(), {"privacy.sampling=fixed"}),
            "--set privacy.sampling=fixed: " + message);
  EXPECT_EQ(refusal(private_sample(), {"algorithms.fedprox.privacy.sampling=fixed"}),
            "--set algorithms.fedprox.privacy.sampling=fixed: " + message);
}

TEST(Rules, HoldForWhatIsInheritedToo) {
  const std::string shared = "policy = \"record\"\nsampling = \"fixed\"\nbatch = 3\n";
  EXPECT_EQ(refusal(sample_with(shared, "clip_norm = 2\n")), "accepted");
  EXPECT_EQ(refusal(sample_with(shared, "batch = 0\n")),
            "e.toml:41:13: sampling is \"fixed\" without a batch\n  give batch");
}

TEST(Rules, HoldForEveryChoice) {
  Catalog catalog = sample_catalog();
  const auto refuse = [](const Settings&) { throw Error::of("no"); };
  const auto message = [&] {
    try {
      read_experiment(
          parsed(with("[model]\nname = \"convnet\"\nwidth = 64\n", "[model]\nname = \"linear\"\n")), {},
          catalog);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
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
  try {
    read_experiment(parsed(with("[privacy]\npolicy = \"none\"\n", "")), {}, catalog);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "e.toml: no");
  }
}

TEST(RequiredPolicy, AcceptsTheOneThatTheAlgorithmRequires) {
  const std::string text = with(private_sample(), "name = \"fedavg\"", "name = \"dp-fedavg\"");
  EXPECT_EQ(parse_sample(text).algorithms[0].privacy, record(1, 2));
  const Experiment own =
      parse_sample(with("name = \"fedavg\"\n", "name = \"dp-fedavg\"\nprivacy.policy = \"record\"\n"));
  EXPECT_EQ(own.algorithms[0].privacy, record(1, 1));
  EXPECT_EQ(own.privacy.name, "none");
}

TEST(RequiredPolicy, RefusesAnyOtherAtTheNameOfTheAlgorithm) {
  const std::string text = with("\"fedavg\"", "\"dp-fedavg\"");
  EXPECT_EQ(refusal(text),
            "e.toml:32:8: \"dp-fedavg\" requires the privacy policy \"record\" and would run under \"none\"\n"
            "  write [privacy] policy = \"record\", or use \"fedavg\"");
  EXPECT_EQ(
      refusal(with(private_sample(), "name = \"fedavg\"\n",
                   "name = \"dp-fedavg\"\nprivacy.policy = \"client\"\n")),
      "e.toml:33:8: \"dp-fedavg\" requires the privacy policy \"record\" and would run under \"client\"\n"
      "  write [algorithms.privacy] policy = \"record\", or use \"fedavg\"");
  EXPECT_EQ(refusal(kSample, {"algorithms.FedAvg.name=dp-fedavg"}),
            "--set algorithms.FedAvg.name=dp-fedavg: \"dp-fedavg\" requires the privacy policy \"record\" "
            "and would "
            "run under \"none\"\n  write [privacy] policy = \"record\", or use \"fedavg\"");
  EXPECT_EQ(refusal(text, {"privacy.policy=record"}), "accepted");
}

TEST(RequiredPolicy, SuggestsOnlyAlgorithmsThatThereAre) {
  Catalog catalog = sample_catalog();
  catalog.algorithms.push_back({"dp-other", "Other.", {}, "client"});
  catalog.algorithms.push_back({"odd", "Odd.", {}, "both"});
  const auto message = [&](const std::string& name) {
    const std::string head = kSample.substr(0, kSample.find("[training]"));
    try {
      read_experiment(parsed(fmt::format("{}[[algorithms]]\nname = \"{}\"\n", head, name)), {}, catalog);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message("dp-other"),
            "e.toml:28:8: \"dp-other\" requires the privacy policy \"client\" and would run under \"none\"\n"
            "  write [privacy] policy = \"client\"");
  EXPECT_EQ(
      message("odd"),
      "e.toml:28:8: \"odd\" requires the privacy policy \"both\", which there is not; allowed: \"none\", "
      "\"record\", \"client\"");
}

TEST(RequiredPolicy, CannotBeHiddenByAHyperParameter) {
  Catalog catalog = sample_catalog();
  catalog.algorithms[0].fields[0].name = "privacy";
  EXPECT_THROW(read_experiment(parsed(kSample), {}, catalog), Error);
}

}  // namespace
}  // namespace fedarena
