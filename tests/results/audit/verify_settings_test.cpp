// What verify says of the card of a run's partition, and of its settings.
#include <filesystem>
#include <string>
#include <vector>

#include "results/audit/verify.hpp"
#include "tests/matchers.hpp"
#include "tests/recorded_cases.hpp"
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

TEST_F(VerifyPartition, RefusesADamagedFile) {
  run_.edit(kPartitionFile, "[500,500]", "[500]");
  expect_refused(has_all("partition.json", "\"class_counts\""), [&] { verify_run(run_.path()); });
}

// Has a run be on data that are known by their name; its experiment, summary, card and rounds say so.
void give_settings(const RecordedRun& run) {
  run.edit(kExperimentFile, "[data]\nname = \"digits\"\n",
           "device = \"cpu\"\n\n[data]\nname = \"glyphs\"\ntrain = 3337\n\n"
           "[proxy]\nname = \"mnist\"\nlimit = 100\n");
  run.edit(kExperimentFile, "kind = \"iid\"\n",
           "kind = \"classes\"\nclients = 3\ntrain_fraction = 1.0\nnoise = 0.5\nrotations = [0, 90]\n"
           "class_order = []\nequal_sizes = false\n");
  run.edit(kExperimentFile, "name = \"mlp\"\n", "name = \"mlp\"\nhidden = [20, 10]\n");
  run.edit(kExperimentFile, "every = 1\n",
           "every = 1\nvalidation_fraction = 0.1\nper_client = false\n\n[stopping]\n"
           "target_accuracy = 0.9\npatience = 10\nimprovement = 0.0\n");
  run.edit(kExperimentFile, "budget = 0.0\n", "budget = 0.0\nclip_norm = 1.0\n");
  run.edit(kEnvironmentFile, "{\"plugins\"", "{\"device\": \"cpu\", \"plugins\"");
  run.change_rounds([](RoundRecord& round) {
    round.validation_loss = 0.5;
    round.validation_accuracy = 0.5;
    round.classes->accuracy.resize(10, round.test_accuracy);
  });
  RecordedPartition card = three_clients();
  card.dataset = "glyphs (train = 3337, validation_fraction = 0.1, proxy = mnist (limit = 100))";
  card.id = "classes(clients=3,noise=0.5,rotations=[0,90],seed=1)";
  card.noise = {0, 0.25, 0.5};
  card.rotations = {0, 90, 0};
  for (auto& counts : card.class_counts) counts.resize(10);
  record_partition(run.open(), card);
  run.change_summary([&](Summary& summary) {
    summary.dataset = card.dataset;
    summary.partition = "classes (clients = 3, noise = 0.5, rotations = [0, 90])";
    summary.model = "mlp (hidden = [20, 10])";
    summary.policy_settings = {{"clip_norm", "1.0"}};
  });
}

class VerifySettings : public OneRun {
 protected:
  VerifySettings() { give_settings(run_); }
};

// An edit is "FILE OLD => NEW".
void apply_edit(const RecordedRun& run, const std::string& how) {
  const std::size_t space = how.find(' '), arrow = how.find(" => ");
  run.edit(how.substr(0, space), how.substr(space + 1, arrow - space - 1), how.substr(arrow + 4));
}

// What is edited in a run, and what then differs: the cases of edits.txt, which says how to read them.
TEST(VerifyEdits, AreFoundAsRecorded) {
  std::string base;
  std::vector<std::string> edits;
  std::size_t cases = 0;
  for (const auto& [sign, text] : test::case_lines("tests/results/audit/edits.txt")) {
    if (sign == "&") base = text;
    if (sign == "~") edits.push_back(text);
    if (sign != ">") continue;
    const Scratch folder;
    const RecordedRun run(folder / "run", {});
    if (base == "card") record_partition(run.open(), three_clients());
    if (base == "settings") give_settings(run);
    for (const std::string& how : edits) apply_edit(run, how);
    const std::string found = fmt::format("{}", fmt::join(run.differences(), " | "));
    EXPECT_EQ(found.empty() ? "nothing" : found, text) << testing::PrintToString(edits);
    edits.clear();
    ++cases;
  }
  EXPECT_GT(cases, 40U);
}

// A rule looks at rounds that are evaluated in any case, not at the last one because it is the last.
TEST_F(VerifySettings, FollowsTheRuleThatEndedARun) {
  run_.edit(kExperimentFile, "rounds = 4", "rounds = 9");
  run_.edit(kExperimentFile, "every = 1", "every = 2");
  run_.edit(kExperimentFile, "patience = 10", "patience = 2");
  run_.change_rounds([](RoundRecord& round) {
    if (round.round % 2 == 0) return;
    round.test_loss = round.test_accuracy = round.validation_loss = round.validation_accuracy = std::nullopt;
    round.classes = std::nullopt;
  });
  run_.change_summary([](Summary& summary) {
    summary.rounds = 9;
    summary.stopped = kStoppedByPatience;
  });
  EXPECT_THAT(run_.differences(), IsEmpty());
  run_.edit(kExperimentFile, "every = 2", "every = 3");
  EXPECT_THAT(run_.differences(), Contains("summary.json: stopped_by is \"patience\"; recomputed: \"\""));
}

TEST_F(VerifySettings, NoticesClassesThatTheDataDoNotHave) {
  RecordedPartition card = read_partition(run_.open()).value();
  for (auto& counts : card.class_counts) counts.resize(11);
  record_partition(run_.open(), card);
  EXPECT_THAT(
      run_.differences(),
      ElementsAre("partition.json: classes is 11; recomputed: 10",
                  "rounds.jsonl: class_accuracy of round 1 and 3 more is 10 classes; recomputed: 11"));
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
      ElementsAre("rounds.jsonl: test_accuracy of round 2 is 0.75; recomputed: 0.7, by the accuracies of "
                  "the classes"));
  EXPECT_THAT(
      with([](ClassMetrics& classes) { classes.macro_f1 = 0.9; }),
      ElementsAre(StartsWith("rounds.jsonl: macro_f1 of round 2 is 0.9; recomputed: at most 0.857142")));
  run_.change_rounds([](RoundRecord& round) {
    if (round.round == 3) round.classes.reset();
  });
  EXPECT_THAT(run_.differences(),
              Contains("rounds.jsonl: class_accuracy of round 3 is absent; recomputed: a list"));
  run_.change_rounds([](RoundRecord& round) { round.classes.reset(); });
  EXPECT_THAT(run_.differences(), Contains("rounds.jsonl: class_accuracy of round 1 and 3 more is "
                                           "absent; recomputed: a list"));
}

// Of the classes of glyphs, 200 test examples each.
TEST_F(VerifySettings, NoticesAnAccuracyThatThoseOfTheClassesDoNotGive) {
  const auto with = [&](double second, double all) {
    run_.change_rounds([&](RoundRecord& round) {
      round.classes = ClassMetrics{.accuracy = std::vector<std::optional<double>>(10, 0.75), .macro_f1 = 0.5};
      if (round.round != 2) return;
      round.classes->accuracy[0] = 0.5;
      round.classes->accuracy[1] = second;
      round.test_accuracy = all;
    });
    return run_.differences();
  };
  EXPECT_THAT(with(1, 0.75), IsEmpty());
  EXPECT_THAT(with(1, 0.7505), ElementsAre("rounds.jsonl: test_accuracy of round 2 is 0.7505; recomputed: "
                                           "0.75, by the accuracies of the classes"));
  EXPECT_THAT(with(0.9985, 0.75), ElementsAre("rounds.jsonl: class_accuracy of round 2, class 1 is 0.9985; "
                                              "recomputed: a part of 200 examples"));
}

// Of data whose test examples nobody here has counted.
TEST_F(VerifySettings, NoticesAnAccuracyOutsideThoseOfTheClasses) {
  run_.edit(kExperimentFile, "\"glyphs\"", "\"svhn\"");
  run_.change_rounds([](RoundRecord& round) {
    const double of_class = round.round == 2 ? 0.7 : 0.75;
    round.classes =
        ClassMetrics{.accuracy = std::vector<std::optional<double>>(10, of_class), .macro_f1 = 0.5};
  });
  EXPECT_THAT(run_.differences(), Contains("rounds.jsonl: test_accuracy of round 2 is 0.75; recomputed: from "
                                           "0.7 to 0.7, as that of the classes"));
}

// Where a run has no card, its ledger has the sizes.
TEST_F(VerifySettings, LooksAtTheLedgerOfARunWithoutACard) {
  std::filesystem::remove(run_.path() / kPartitionFile);
  run_.change_summary(
      [](Summary& summary) { summary.dataset = replaced(summary.dataset, "train = 3337", "train = 334"); });
  run_.edit(kExperimentFile, "train = 3337", "train = 334");
  EXPECT_THAT(
      run_.differences(),
      ElementsAre(StartsWith("partition.json: the card is missing; recomputed: that of classes("),
                  "ledger.json: examples of all clients is 3003; recomputed: 301",
                  "rounds.jsonl: validation_accuracy of round 1 and 3 more is 0.5; recomputed: a part "
                  "of 33 examples"));
}

}  // namespace
}  // namespace fedarena::results
