// What verify says of the card of a run's partition, and of its settings.
#include <cstddef>
#include <filesystem>
#include <string>

#include "results/audit/verify.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

class OneRun : public testing::Test {
 protected:
  Scratch folder_;
  RecordedRun run_{folder_ / "run", {}};
};

class VerifyPartition : public OneRun {
 protected:
  VerifyPartition() { record_partition(run_.open(), three_clients()); }
};

TEST_F(VerifyPartition, FindsNothingInWhatTheProgramWrote) {
  EXPECT_THAT(run_.differences(), IsEmpty());
  const std::int64_t values = verify_run(run_.path()).values;
  // A summary that names its partition has a card of it.
  std::filesystem::remove(run_.path() / kPartitionFile);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: the card is missing; recomputed: that of "
                                              "classes(clients=3,seed=1)"));
  // In place of seven of all, and three of each client.
  EXPECT_EQ(values - verify_run(run_.path()).values, 7 + 3 * 3 - 1);
}

TEST_F(VerifyPartition, FindsTheCardOfAnotherRun) {
  run_.edit(kPartitionFile, "classes(clients=3,seed=1)", "classes(clients=3,seed=2)");
  run_.edit(kPartitionFile, "\"seed\":1", "\"seed\":2");
  run_.edit(kPartitionFile, "0123456789abcdef", "0123456789abcdee");
  run_.edit(kPartitionFile, "digits", "glyphs");
  EXPECT_THAT(
      run_.differences(),
      ElementsAre(
          "partition.json: id is \"classes(clients=3,seed=2)\"; recomputed: \"classes(clients=3,seed=1)\"",
          "partition.json: index_hash is \"0123456789abcdee\"; recomputed: \"0123456789abcdef\"",
          "partition.json: dataset is \"glyphs\"; recomputed: \"digits\"",
          "partition.json: seed is 2; recomputed: 1"));
}

TEST_F(VerifyPartition, FindsAnotherNumberOfClients) {
  RecordedPartition more = three_clients();
  more.sizes.push_back(4);
  more.class_counts.push_back({0, 4});
  more.label_entropy.push_back(0);
  record_partition(run_.open(), more);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: clients is 4; recomputed: 3"));
  RecordedPartition fewer = three_clients();
  fewer.sizes.pop_back();
  fewer.class_counts.pop_back();
  fewer.label_entropy.pop_back();
  record_partition(run_.open(), fewer);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: clients is 2; recomputed: 3"));
}

TEST_F(VerifyPartition, FindsCountsThatDoNotAddUp) {
  run_.edit(kPartitionFile, "[0,1002]", "[0,1001]");
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: client 2 sum of class_counts is 1001; recomputed: 1002"));
}

TEST_F(VerifyPartition, FindsAnEntropyThatTheCountsDoNotGive) {
  RecordedPartition partition = three_clients();
  partition.label_entropy[2] = 0.5;
  record_partition(run_.open(), partition);
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: client 2 label_entropy is 0.5; recomputed: 0"));
}

// Where a ledger lists the clients; a run that has just begun has none.
TEST_F(VerifyPartition, FindsSizesThatAreNotThoseOfTheLedger) {
  RecordedPartition partition = three_clients();
  partition.sizes[1] = 1002;
  partition.class_counts[1] = {2, 1000};
  partition.label_entropy[1] = label_entropy(partition.class_counts[1]);
  record_partition(run_.open(), partition);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: client 1 size is 1002; recomputed: 1001"));
  const RecordedRun begun(folder_ / "begun", {.finished = false});
  record_partition(begun.open(), partition);
  std::filesystem::remove(begun.path() / kLedgerFile);
  EXPECT_THAT(begun.differences(), IsEmpty());
}

TEST_F(VerifyPartition, BearsAnyWholeNumber) {
  run_.edit(kPartitionFile, "[500,500]", "[9223372036854775807,9223372036854775807]");
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: client 0 sum of class_counts is -2; recomputed: 1000"));
}

TEST_F(VerifyPartition, RefusesADamagedFile) {
  run_.edit(kPartitionFile, "[500,500]", "[500]");
  EXPECT_THAT(message_of([&] { verify_run(run_.path()); }),
              testing::AllOf(HasSubstr("partition.json"), HasSubstr("\"class_counts\"")));
}

// A run on data that are known by their name, with what its experiment, summary, card and rounds say of it.
class VerifySettings : public OneRun {
 protected:
  VerifySettings() {
    run_.edit(kExperimentFile, "[data]\nname = \"digits\"\n",
              "device = \"cpu\"\n\n[data]\nname = \"glyphs\"\ntrain = 3337\n\n"
              "[proxy]\nname = \"mnist\"\nlimit = 100\n");
    run_.edit(kExperimentFile, "kind = \"iid\"\n",
              "kind = \"classes\"\nclients = 3\ntrain_fraction = 1.0\nnoise = 0.5\nrotations = [0, 90]\n"
              "class_order = []\nequal_sizes = false\n");
    run_.edit(kExperimentFile, "name = \"mlp\"\n", "name = \"mlp\"\nhidden = [20, 10]\n");
    run_.edit(kExperimentFile, "every = 1\n",
              "every = 1\nvalidation_fraction = 0.1\nper_client = false\n\n[stopping]\n"
              "target_accuracy = 0.9\npatience = 10\nimprovement = 0.0\n");
    run_.edit(kExperimentFile, "budget = 0.0\n", "budget = 0.0\nclip_norm = 1.0\n");
    run_.edit(kEnvironmentFile, "{\"plugins\"", "{\"device\": \"cpu\", \"plugins\"");
    run_.change_rounds([](RoundRecord& round) {
      round.validation_loss = 0.5;
      round.validation_accuracy = 0.8;
    });
    RecordedPartition card = three_clients();
    card.dataset = "glyphs (train = 3337, validation_fraction = 0.1, proxy = mnist (limit = 100))";
    card.id = "classes(clients=3,noise=0.5,rotations=[0,90],seed=1)";
    card.noise = {0, 0.25, 0.5};
    card.rotations = {0, 90, 0};
    for (auto& counts : card.class_counts) counts.resize(10);
    record_partition(run_.open(), card);
    run_.change_summary([&](Summary& summary) {
      summary.dataset = card.dataset;
      summary.partition = "classes (clients = 3, noise = 0.5, rotations = [0, 90])";
      summary.model = "mlp (hidden = [20, 10])";
      summary.policy_settings = {{"clip_norm", "1.0"}};
    });
  }

  void edit_all(const std::string& before, const std::string& after) const {
    for (const char* file : {kExperimentFile, kSummaryFile, kPartitionFile}) run_.edit(file, before, after);
  }
};

// An edit of one file, and what it makes differ from the others.
struct Edit {
  std::string file, before, after, difference;
};

class VerifySetting : public VerifySettings, public testing::WithParamInterface<Edit> {};

TEST_P(VerifySetting, IsNoticedWhereItIsAnotherThanWhatRan) {
  ASSERT_THAT(run_.differences(), IsEmpty());
  const Edit& edit = GetParam();
  run_.edit(edit.file, edit.before, edit.after);
  EXPECT_THAT(run_.differences(), testing::Contains(HasSubstr(edit.difference)));
}

INSTANTIATE_TEST_SUITE_P(
    OfAnExperiment, VerifySetting,
    testing::Values(
        Edit{kExperimentFile, "\"glyphs\"", "\"mnist\"", "summary.json: dataset is"},
        Edit{kExperimentFile, "train = 3337", "train = 333", "summary.json: dataset is"},
        Edit{kExperimentFile, "train = 3337", "train = 12000", "summary.json: dataset is"},
        Edit{kExperimentFile, "limit = 100", "limit = 0", "summary.json: dataset is"},
        Edit{kExperimentFile, "\"mnist\"", "\"fashion-mnist\"", "summary.json: dataset is"},
        Edit{kExperimentFile, "\"mnist\"", "\"none\"", "summary.json: dataset is"},
        Edit{kExperimentFile, "validation_fraction = 0.1", "validation_fraction = 0.2",
             "summary.json: dataset is"},
        Edit{kExperimentFile, "validation_fraction = 0.1", "validation_fraction = 0.0",
             "rounds.jsonl: round 1 validation_loss is numbers; recomputed: none"},
        Edit{kExperimentFile, "per_client = false", "per_client = true",
             "rounds.jsonl: round 1 clients_tested is none; recomputed: numbers"},
        Edit{kExperimentFile, "every = 1", "every = 2", "rounds.jsonl: round 1 test_loss is"},
        Edit{kExperimentFile, "kind = \"classes\"", "kind = \"iid\"",
             "partition.json: kind is \"classes\"; recomputed: \"iid\""},
        Edit{kExperimentFile, "kind = \"classes\"", "kind = \"iid\"",
             "partition.json: size of client 0 and 1 more is 1000; recomputed: 1001"},
        Edit{kExperimentFile, "clients = 3", "clients = 4", "summary.json: partition_id is"},
        Edit{kExperimentFile, "train_fraction = 1.0", "train_fraction = 0.1",
             "partition.json: examples of all clients is 3003; recomputed: from 298 to 303"},
        Edit{kExperimentFile, "noise = 0.5", "noise = 0.0",
             "partition.json: noise of client 1 and 1 more is 0.25; recomputed: 0"},
        Edit{kExperimentFile, "noise = 0.5", "noise = 1.0",
             "partition.json: noise of client 1 and 1 more is 0.25; recomputed: 0.5"},
        Edit{kExperimentFile, "rotations = [0, 90]", "rotations = [0, 180]",
             "partition.json: rotations of client 1 is 90; recomputed: 180"},
        Edit{kExperimentFile, "class_order = []", "class_order = [1]", "summary.json: partition is"},
        Edit{kExperimentFile, "equal_sizes = false", "equal_sizes = true", "summary.json: partition is"},
        Edit{kExperimentFile, "hidden = [20, 10]", "hidden = [20]",
             "summary.json: model is \"mlp (hidden = [20, 10])\"; recomputed: \"mlp (hidden = [20])\""},
        Edit{kExperimentFile, "\"mlp\"", "\"cnn\"", "summary.json: model is"},
        Edit{kExperimentFile, "target_accuracy = 0.9", "target_accuracy = 0.7",
             "summary.json: stopped_by is \"\"; recomputed: \"target\""},
        Edit{kExperimentFile, "patience = 10", "patience = 2",
             "summary.json: rounds_done is 4; recomputed: 3"},
        Edit{kExperimentFile, "device = \"cpu\"", "device = \"cuda\"",
             "environment.json: device is \"cpu\"; recomputed: \"cuda:0\""},
        Edit{kExperimentFile, "device = \"cpu\"", "device = \"cuda:1\"",
             "environment.json: device is \"cpu\"; recomputed: \"cuda:1\""},
        Edit{kExperimentFile, "device = \"cpu\"", "device = \"cuda:x\"",
             "experiment.toml: experiment.device is cuda:x; recomputed: one of auto, cpu, cuda, cuda:N"},
        Edit{kEnvironmentFile, "\"device\": \"cpu\"", "\"device\": \"cuda:0\"",
             "environment.json: device is \"cuda:0\"; recomputed: \"cpu\""},
        Edit{kExperimentFile, "device = \"cpu\"", "device = \"cpu\"\ndtype = \"float32x\"",
             "experiment.toml: experiment.dtype is float32x; recomputed: one of float32, float64"},
        Edit{kExperimentFile, "limit = 100", "limit = -100",
             "experiment.toml: proxy.limit is -100; recomputed: a number from 0"},
        Edit{kExperimentFile, "clip_norm = 1.0", "clip_norm = -1.0",
             "experiment.toml: algorithms.privacy.clip_norm is -1.0; recomputed: a number from 0"},
        Edit{kEnvironmentFile, "{\"device\"", "{\"cores\": -2, \"device\"",
             "environment.json: cores is -2; recomputed: a number from 1"},
        Edit{kEnvironmentFile, "\"name\": \"fedavg\"", "\"sha256\": \"12\", \"name\": \"fedavg\"",
             "environment.json: sha256 is \"12\"; recomputed: 64 hexadecimal digits"},
        Edit{kExperimentFile, "clip_norm = 1.0\n", "clip_norm = 1.0\npublic_classes = true\n",
             "summary.json: policy_settings.public_classes is missing; recomputed: true"},
        Edit{kExperimentFile, "rate = 0.1\n", "rate = 0.1\nmomentum = 0.9\n",
             "summary.json: algorithm_parameters.momentum is missing; recomputed: 0.9"},
        Edit{kExperimentFile, "budget = 0.0", "noise_multiplier = [1.0, 2.0]\nbudget = 0.0",
             "summary.json: per_client is false; recomputed: true"},
        Edit{kPartitionFile, "\"kind\":\"classes\"", "\"kind\":\"iid\"",
             "partition.json: kind is \"iid\"; recomputed: \"classes\""}));

// Where the file leaves the device open, the record says which it was.
TEST_F(VerifySettings, TakesTheDeviceThatWasThere) {
  run_.edit(kExperimentFile, "device = \"cpu\"", "device = \"auto\"");
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kEnvironmentFile, "\"device\": \"cpu\"", "\"device\": \"cuda:0\"");
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kExperimentFile, "device = \"auto\"", "device = \"cuda\"");
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kEnvironmentFile, "\"device\": \"cuda:0\"", "\"device\": \"cuda:1\"");
  EXPECT_THAT(run_.differences(),
              testing::Contains(HasSubstr("device is \"cuda:1\"; recomputed: \"cuda:0\"")));
}

// A rule looks at rounds that are evaluated in any case, not at the last one because it is the last.
TEST_F(VerifySettings, FollowsTheRuleThatEndedARun) {
  run_.edit(kExperimentFile, "rounds = 4", "rounds = 9");
  run_.edit(kExperimentFile, "every = 1", "every = 2");
  run_.edit(kExperimentFile, "patience = 10", "patience = 2");
  run_.change_rounds([](RoundRecord& round) {
    if (round.round % 2 == 0) return;
    round.test_loss = round.test_accuracy = round.validation_loss = round.validation_accuracy = std::nullopt;
  });
  run_.change_summary([](Summary& summary) {
    summary.rounds = 9;
    summary.stopped = kStoppedByPatience;
  });
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kExperimentFile, "every = 2", "every = 3");
  EXPECT_THAT(run_.differences(),
              testing::Contains("summary.json: stopped_by is \"patience\"; recomputed: \"\""));
}

// Who gives a run other data in every file still has the sizes of its clients.
TEST_F(VerifySettings, NoticesSizesThatTheDataDoNotGive) {
  edit_all("train = 3337", "train = 334");
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: examples of all clients is 3003; recomputed: 301"));
  edit_all("train = 334", "train = 33370");
  EXPECT_THAT(run_.differences(),
              ElementsAre("partition.json: examples of all clients is 3003; recomputed: 30033"));
}

// As columns of a table may be called.
TEST_F(VerifySettings, TakesNoTextForANumber) {
  run_.edit(kExperimentFile, "[stopping]\n", "[own]\ntarget = \"-1\"\n\n[stopping]\n");
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kExperimentFile, "target = \"-1\"", "target = -1");
  EXPECT_THAT(run_.differences(),
              ElementsAre("experiment.toml: own.target is -1; recomputed: a number from 0"));
}

// The usual value is left out where data are described, so its absence says what it was.
TEST_F(VerifySettings, NoticesAnUnusualSettingThatNothingElseTells) {
  for (const char* file : {kSummaryFile, kPartitionFile}) run_.edit(file, "train = 3337, ", "");
  EXPECT_THAT(run_.differences(), ElementsAre(HasSubstr("summary.json: dataset is")));
}

TEST_F(VerifySettings, NoticesClassesThatTheDataDoNotHave) {
  RecordedPartition card = read_partition(run_.open()).value();
  for (auto& counts : card.class_counts) counts.resize(11);
  record_partition(run_.open(), card);
  EXPECT_THAT(run_.differences(), ElementsAre("partition.json: classes is 11; recomputed: 10"));
}

TEST_F(VerifySettings, NoticesAccuraciesOfOtherClassesThanThereAre) {
  const auto with = [&](const std::function<void(ClassMetrics&)>& change) {
    run_.change_rounds([&](RoundRecord& round) {
      round.classes = ClassMetrics{.accuracy = std::vector<std::optional<double>>(10, 0.75), .macro_f1 = 0.5};
      if (round.round == 2) change(*round.classes);
    });
    return run_.differences();
  };
  EXPECT_THAT(with([](ClassMetrics&) {}), IsEmpty());
  EXPECT_THAT(with([](ClassMetrics& classes) { classes.accuracy.pop_back(); }),
              ElementsAre("rounds.jsonl: class_accuracy of round 2 is 9 classes; recomputed: 10"));
  EXPECT_THAT(
      with([](ClassMetrics& classes) { std::ranges::fill(classes.accuracy, 0.7); }),
      ElementsAre("rounds.jsonl: test_accuracy of round 2 is 0.75; recomputed: from 0.7 to 0.7, as that "
                  "of the classes"));
  EXPECT_THAT(
      with([](ClassMetrics& classes) { classes.macro_f1 = 0.9; }),
      ElementsAre(StartsWith("rounds.jsonl: macro_f1 of round 2 is 0.9; recomputed: at most 0.857142")));
  run_.change_rounds([](RoundRecord& round) {
    if (round.round == 3) round.classes.reset();
  });
  EXPECT_THAT(run_.differences(),
              testing::Contains("rounds.jsonl: class_accuracy of round 3 is absent; recomputed: a list"));
}

// Where a run has no card, its ledger has the sizes.
TEST_F(VerifySettings, LooksAtTheLedgerOfARunWithoutACard) {
  std::filesystem::remove(run_.path() / kPartitionFile);
  run_.change_summary(
      [](Summary& summary) { summary.dataset = replaced(summary.dataset, "train = 3337", "train = 334"); });
  run_.edit(kExperimentFile, "train = 3337", "train = 334");
  EXPECT_THAT(run_.differences(),
              ElementsAre(StartsWith("partition.json: the card is missing; recomputed: that of classes("),
                          "ledger.json: examples of all clients is 3003; recomputed: 301"));
}

}  // namespace
}  // namespace fedarena::results
