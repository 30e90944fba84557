// What stands under a table about its partitions and about tuning.
#include "results/table/notes.hpp"

#include <fmt/format.h>

#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// A run whose record says which builds ran it.
FoundRun built(const Scratch& folder, std::int64_t seed, const std::string& program,
               const std::string& plugin) {
  const FoundRun run = found(finished("fedavg", seed, 0.5), folder.path().string());
  std::filesystem::create_directories(run.path);
  put(run.path / kEnvironmentFile,
      fmt::format(
          R"({{"program_sha256":"{}","plugins":[{{"name":"other","sha256":"0{}","algorithms":["x"]}},)"
          R"({{"name":"basics","sha256":"{}","algorithms":["fedavg"]}}]}})",
          program, seed, plugin));
  return run;
}

// All notes of these runs, whose rows are named by their labels.
std::vector<std::string> all_notes_of(const std::vector<FoundRun>& runs) {
  Rows gathered = gather_rows(runs);
  for (RowRuns& row : gathered.rows) row.name = row.key.label;
  return row_notes(gathered.rows);
}

std::vector<std::string> notes_of(const std::vector<FoundRun>& runs) {
  return beside_partitions(all_notes_of(runs));
}

Summary dealt(const std::string& label, std::int64_t seed, const std::string& hash) {
  Summary summary = finished(label, seed, 0.5);
  summary.partition_id = "iid(clients=10,seed=" + std::to_string(seed) + ")";
  summary.partition_hash = hash;
  return summary;
}

TEST(PartitionNotes, NameEachPartitionOnceWithTheHashesOfItsSeeds) {
  const std::vector<FoundRun> runs = {found(dealt("fedprox", 10, "ab")), found(dealt("fedprox", 2, "cd")),
                                      found(dealt("fedavg", 2, "cd")), found(dealt("fedavg", 10, "ab"))};
  EXPECT_THAT(
      all_notes_of(runs),
      ElementsAre(
          "partition of digits: iid(clients=10,seed=...): seed 2 index hash cd, seed 10 index hash ab"));
  const Table table = make_table(runs);
  EXPECT_EQ(table.notes, all_notes_of(runs));
  EXPECT_THAT(to_markdown(reader_table(table)), HasSubstr("seed 10 index hash ab"));
}

TEST(ParameterNotes, TellWhereAlgorithmsOfOneSettingHadOtherValues) {
  std::vector<Summary> summaries;
  for (const std::string label : {"fedavg", "fedprox", "scaffold"}) {
    summaries.push_back(finished(label, 1, 0.5));
    summaries.back().algorithm_parameters = {{"batch_size", label == "scaffold" ? "64" : "16"},
                                             {"mu", "0.1"}};
  }
  const auto notes = [&] {
    std::vector<FoundRun> runs;
    for (const Summary& summary : summaries) runs.push_back(found(summary));
    return notes_of(runs);
  };
  EXPECT_THAT(notes(), ElementsAre("parameters of one name differ between algorithms: batch_size 16 (fedavg, "
                                   "fedprox), 64 (scaffold)"));
  summaries.back().sweep = {{"algorithms.scaffold.batch_size", "64"}};
  EXPECT_THAT(notes(), IsEmpty()) << "which has a column";
  summaries.back().sweep = {{"training.rate", "0.5"}};
  EXPECT_THAT(notes(), IsEmpty()) << "another setting";
  summaries.assign(2, finished("fedavg", 1, 0.5));
  summaries[0].algorithm_parameters = {{"batch_size", "16"}};
  summaries[1].algorithm_parameters = {{"batch_size", "64"}};
  EXPECT_THAT(notes(), Not(Contains(HasSubstr("between algorithms")))) << "one algorithm";
}

TEST(AttackNotes, NameRunsThatWereAttackedOnOtherExamples) {
  EXPECT_THAT(unlike_attacks_notes({{"10 members", {"a", "b"}}}), IsEmpty());
  EXPECT_THAT(unlike_attacks_notes({{"10 members", {"a"}}, {"120 members", {"b", "c", "d"}}}),
              ElementsAre(HasSubstr(": 10 members in a; 120 members in b and 2 more")));
}

TEST(StoppingNotes, NameThePointOfASweep) {
  std::vector<FoundRun> runs;
  for (const std::string mu : {"0.1", "1"}) {
    Summary summary = finished("fedprox", 1, 0.5);
    summary.sweep = {{"algorithms.fedprox.mu", mu}};
    summary.stopped = kStoppedByPatience;
    summary.rounds_done = 4;
    runs.push_back(found(summary, "mu-" + mu));
  }
  const Table table = make_table(runs);
  EXPECT_THAT(to_markdown(reader_table(table)), has_all(" 4‡ |", "‡: stopped early"));
  EXPECT_THAT(table.notes,
              Contains(fmt::format(
                  "stopped without a better validation score: fedprox, mu=0.1, seed 1 (round 4 of {0}); "
                  "fedprox, mu=1, seed 1 (round 4 of {0})",
                  runs[0].summary->rounds)));
}

TEST(PartitionNotes, TellDataSetsAndPartitionsApart) {
  Summary other = dealt("fedavg", 1, "ef");
  other.partition_id = "dirichlet(clients=10,alpha=0.1,seed=1)";
  Summary letters = dealt("fedavg", 1, "01");
  letters.dataset = "letters";
  EXPECT_THAT(
      all_notes_of({found(letters), found(dealt("fedavg", 1, "ab")), found(other)}),
      ElementsAre("partition of digits: dirichlet(clients=10,alpha=0.1,seed=...): seed 1 index hash ef",
                  "partition of digits: iid(clients=10,seed=...): seed 1 index hash ab",
                  "partition of letters: iid(clients=10,seed=...): seed 1 index hash 01"));
}

TEST(PartitionNotes, LeaveOutADataSetsSettingsWhereItsNameIsEnough) {
  Summary part = dealt("fedavg", 1, "ab");
  part.dataset = "csv (path = \"a.csv\")";
  part.dataset_note = "the target is\nstandardised.";
  const std::string partition = "iid(clients=10,seed=...): seed 1 index hash ab";
  EXPECT_THAT(make_table(std::vector{found(part), found(dealt("fedprox", 1, "ab"))}).notes,
              ElementsAre("data set csv: the target is standardised", "partition of csv: " + partition,
                          "partition of digits: " + partition));
  part.dataset_note.clear();
  Summary other = part;
  other.dataset = "csv (path = \"b.csv\")";
  EXPECT_THAT(all_notes_of({found(part), found(other)}),
              ElementsAre("partition of csv (path = \"a.csv\"): " + partition,
                          "partition of csv (path = \"b.csv\"): " + partition));
}

TEST(BuildNotes, NameRowsWhoseSeedsDifferentBuildsRan) {
  const Scratch folder;
  const std::string old(64, 'a'), fresh(64, 'b');
  EXPECT_THAT(notes_of({built(folder, 1, old, old), built(folder, 2, old, old)}), IsEmpty());
  EXPECT_THAT(
      notes_of({built(folder, 1, old, old), built(folder, 2, old, fresh), built(folder, 3, old, old)}),
      ElementsAre("fedavg: its seeds were run by different builds of the plugin basics: seeds 1, 3 "
                  "(SHA-256 aaaaaaaaaaaa); seed 2 (SHA-256 bbbbbbbbbbbb)"));
  EXPECT_THAT(notes_of({built(folder, 1, old, old), built(folder, 2, fresh, old)}),
              ElementsAre("fedavg: its seeds were run by different builds of fedarena: seed 1 (SHA-256 "
                          "aaaaaaaaaaaa); seed 2 (SHA-256 bbbbbbbbbbbb)"));
  FoundRun silent = built(folder, 2, fresh, fresh);
  put(silent.path / kEnvironmentFile, "{");
  EXPECT_THAT(notes_of({built(folder, 1, old, old), silent}), IsEmpty());
}

TEST(DeviceNotes, NameRowsWhoseSeedsWereTrainedOnDifferentDevices) {
  const Scratch folder;
  const auto trained = [&](std::int64_t seed, const std::string& environment) {
    const FoundRun run = found(finished("fedavg", seed, 0.5), folder.path().string());
    std::filesystem::create_directories(run.path);
    put(run.path / kEnvironmentFile, environment);
    return run;
  };
  const FoundRun cpu = trained(1, R"({"device":"cpu"})");
  const FoundRun gpu = trained(2, R"({"device":"cuda:0","gpu":"H100"})");
  const FoundRun other = trained(3, R"({"device":"cuda:1","gpu":"H100"})");
  EXPECT_THAT(notes_of({gpu, other, trained(4, "{}")}), IsEmpty());
  EXPECT_THAT(
      notes_of({cpu, gpu, other}),
      ElementsAre("fedavg: its seeds were trained on different devices: seeds 2, 3 (H100); seed 1 (cpu)"));
}

TEST(ClientNotes, NameRowsThatCouldNotTestAllClients) {
  const auto tested = [](const std::string& label, std::int64_t seed, std::int64_t clients) {
    Summary summary = finished(label, seed, 0.5);
    summary.per_client = ClientMetrics{.tested = clients};
    summary.best_round = BestOverRounds{};
    return found(summary);
  };
  FoundRun regression = tested("linear", 1, 9);
  regression.summary->per_client.reset();
  regression.summary->client_errors = ClientErrors{.tested = 9};
  EXPECT_THAT(
      notes_of({tested("fedavg", 1, 1), tested("fedavg", 2, 1), tested("fedprox", 1, 1),
                tested("whole", 1, 10), regression, found(finished("untested", 1, 0.5))}),
      ElementsAre(
          "only 1 of 10 clients have test examples of their own, and what is said of clients rests on "
          "them: fedavg; fedprox",
          "only 9 of 10 clients have test examples of their own, and what is said of clients rests on "
          "them: linear"));
}

TEST(PartitionNotes, SayWhereRunsOfASeedDisagree) {
  EXPECT_THAT(
      all_notes_of({found(dealt("fedavg", 1, "cd")), found(dealt("fedprox", 1, "ab"))}),
      ElementsAre(
          "partition of digits: iid(clients=10,seed=...): seed 1 index hash ab and cd (runs of this seed "
          "do not share a partition)"));
}

TEST(PartitionNotes, AreOfFinishedRuns) {
  Summary running = dealt("fedavg", 1, "ab");
  running.state = std::string(kInterrupted);
  EXPECT_THAT(all_notes_of({found(running), FoundRun{.path = "x", .summary = {}, .problem = "broken"}}),
              IsEmpty());
}

FoundRun run_of(const std::string& label, const std::optional<Tuning>& tuning, std::int64_t seed = 1) {
  Summary summary = finished(label, seed, 0.5);
  summary.tuning = tuning;
  return found(summary);
}

Tuning with_mu() {
  Tuning tuning = tuned_by(6, {{"algorithms.fedprox.mu", "0.01"}, {"training.rate", "0.3"}});
  tuning.score = 0.8;
  tuning.examples = 1'234'567;
  tuning.seconds = 240;
  return tuning;
}

TEST(TuningNotes, SayByWhatAndAtWhatCostSettingsWereChosen) {
  EXPECT_THAT(
      notes_of({run_of("fedprox", with_mu()), run_of("fedavg", tuned_by(6))}),
      ElementsAre("tuned: each algorithm by 6 trials (grid, seed 0), the best by validation accuracy: "
                  "fedavg 12.3 s and 48.0 k examples, training.rate = 0.1 (71.23 %); "
                  "fedprox 240 s and 1.23 M examples, training.rate = 0.3, mu = 0.01 (80.00 %)"));
}

TEST(TuningNotes, TellARowOnceHoweverManySeedsItHas) {
  EXPECT_THAT(notes_of({run_of("fedavg10", tuned_by(1), 2), run_of("fedavg10", tuned_by(1)),
                        run_of("fedavg2", tuned_by(1), 2), run_of("fedavg2", tuned_by(1))}),
              ElementsAre("tuned: each algorithm by 1 trial (grid, seed 0), the best by validation accuracy: "
                          "fedavg2 12.3 s and 48.0 k examples, training.rate = 0.1 (71.23 %); "
                          "fedavg10 12.3 s and 48.0 k examples, training.rate = 0.1 (71.23 %)"));
}

TEST(TuningNotes, TellWhatWasChosenOtherwiseUnderOneLabel) {
  Tuning other = tuned_by(6, {{"training.rate", "0.3"}});
  EXPECT_THAT(notes_of({run_of("fedavg", tuned_by(6)), run_of("fedavg", other, 2)}),
              ElementsAre(HasSubstr("training.rate = 0.1 (71.23 %); fedavg 12.3 s")));
}

TEST(TuningNotes, GiveALossAsItIs) {
  Tuning tuning = tuned_by(6);
  tuning.criterion = kByValidationLoss;
  tuning.score = 0.43216;
  EXPECT_THAT(notes_of({run_of("fedavg", tuning)}),
              ElementsAre(EndsWith("the best by validation loss: fedavg 12.3 s and 48.0 k examples, "
                                   "training.rate = 0.1 (0.4322)")));
  tuning.score = std::nullopt;
  EXPECT_THAT(notes_of({run_of("fedavg", tuning)}),
              ElementsAre(EndsWith("(every trial diverged; this is the first one)")));
}

TEST(TuningNotes, SayWhoHadMoreTrialsThanOthersOrNone) {
  Tuning random = with_mu();
  random.search = "random";
  random.trials = 12;
  EXPECT_THAT(
      notes_of({run_of("scaffold", std::nullopt), run_of("fedprox", random), run_of("fedavg", tuned_by(6)),
                run_of("fednova", tuned_by(6))}),
      ElementsAre(
          StartsWith("tuned by 6 trials (grid, seed 0), the best by validation accuracy: fedavg 12.3 s"),
          StartsWith("tuned by 12 trials (random, seed 0), the best by validation accuracy: fedprox 240 s"),
          "tuned unequally: fedprox by 12 trials; fedavg, fednova by 6 trials; scaffold not at all"));
  EXPECT_THAT(notes_of({run_of("scaffold", std::nullopt), run_of("fedavg", tuned_by(1))}),
              ElementsAre(StartsWith("tuned by 1 trial (grid, seed 0)"),
                          "tuned unequally: fedavg by 1 trial; scaffold not at all"));
}

// Equally many trials under another seed are not unequal.
TEST(TuningNotes, TellSearchesApart) {
  Tuning other = tuned_by(6);
  other.seed = 5;
  EXPECT_THAT(
      notes_of({run_of("fedavg", tuned_by(6)), run_of("fednova", other)}),
      ElementsAre(StartsWith("tuned by 6 trials (grid, seed 0), the best by validation accuracy: fedavg"),
                  StartsWith("tuned by 6 trials (grid, seed 5), the best by validation accuracy: fednova")));
}

TEST(TuningNotes, SayThatEpsilonDoesNotCoverTheTrials) {
  const std::string warning =
      "epsilon does not cover the trials: they, and the choice among them, looked at private data, too";
  Summary summary = finished_privately("dp-fedavg", 1, 0.5);
  EXPECT_THAT(notes_of({found(summary)}), IsEmpty());
  EXPECT_THAT(notes_of({found(summary), run_of("fedavg", tuned_by(6))}), Not(Contains(warning)));
  summary.tuning = tuned_by(6);
  EXPECT_THAT(notes_of({found(summary)}), ElementsAre(StartsWith("tuned: "), warning));
  EXPECT_THAT(notes_of({found(summary)}),
              Contains(EndsWith("by validation accuracy: dp-fedavg training.rate = 0.1 (71.23 %)")))
      << "what trials took tells the sizes of samples";
}

TEST(TuningNotes, StandUnderATableWithTheNamesOfItsRows) {
  FoundRun letters = run_of("fedavg", tuned_by(6));
  letters.path = "runs/letters";
  letters.summary->dataset = "letters";
  const std::vector<FoundRun> runs = {run_of("fedavg", tuned_by(12)), letters};
  const Table table = make_table(runs);
  EXPECT_THAT(table.notes,
              Contains("tuned unequally: fedavg (data set digits) by 12 trials; fedavg (data set letters) by "
                       "6 trials"));
  EXPECT_THAT(to_markdown(reader_table(table)), HasSubstr("training.rate = 0.1 (71.23 %)"));
  EXPECT_EQ(make_table(std::vector{runs[1], runs[0]}).notes, table.notes);
  EXPECT_THAT(beside_partitions(make_table(std::vector{run_of("fedavg", std::nullopt)}).notes), IsEmpty());
}

}  // namespace
}  // namespace fedarena::results
