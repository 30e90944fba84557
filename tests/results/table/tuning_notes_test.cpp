#include "results/table/tuning_notes.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "results/write/render.hpp"
#include "results/table/table.hpp"
#include "tests/results/samples.hpp"
#include "tests/results/record/tuning_sample.hpp"

namespace fedarena::results {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

FoundRun run_of(const std::string& label, const std::optional<Tuning>& tuning, std::int64_t seed = 1) {
  Summary summary = finished(label, seed, 0.5);
  summary.tuning = tuning;
  return found(summary);
}

std::vector<std::string> notes_of(const std::vector<FoundRun>& runs) {
  return tuning_notes(runs, [](const FoundRun& run) { return run.summary->label; });
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
              ElementsAre(testing::EndsWith("the best by validation loss: fedavg 12.3 s and 48.0 k examples, "
                                            "training.rate = 0.1 (0.4322)")));
  tuning.score = std::nan("");
  EXPECT_THAT(notes_of({run_of("fedavg", tuning)}), ElementsAre(testing::EndsWith("(nan)")));
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
  EXPECT_THAT(notes_of({found(summary), run_of("fedavg", tuned_by(6))}), testing::Not(Contains(warning)));
  summary.tuning = tuned_by(6);
  EXPECT_THAT(notes_of({found(summary)}), ElementsAre(StartsWith("tuned: "), warning));
}

TEST(TuningNotes, AreOfFinishedRuns) {
  Summary running = unfinished("fedavg", 1, 3);
  running.tuning = tuned_by(6);
  EXPECT_THAT(notes_of({found(running), FoundRun{.path = "x", .summary = {}, .problem = "broken"}}),
              IsEmpty());
  // Nor does an unfinished run make others unequal.
  EXPECT_THAT(notes_of({found(unfinished("fedprox", 1, 3)), run_of("fedavg", tuned_by(6))}),
              ElementsAre(StartsWith("tuned: each algorithm")));
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
  EXPECT_THAT(render_markdown(table), HasSubstr("training.rate = 0.1 (71.23 %)"));
  EXPECT_EQ(make_table(std::vector{runs[1], runs[0]}).notes, table.notes);
  EXPECT_THAT(make_table(std::vector{run_of("fedavg", std::nullopt)}).notes, IsEmpty());
}

}  // namespace
}  // namespace fedarena::results
