#include <cmath>

#include "results/live/live_runs.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

constexpr double kRoundSeconds = 1.625;  // of round_record

Summary running(std::int64_t rounds = 20) {
  Summary summary = unfinished("fedavg", 1, 0);
  summary.rounds = rounds;
  summary.state = kRunning;
  return summary;
}

std::vector<RoundRecord> rounds(std::int64_t count) {
  std::vector<RoundRecord> records;
  for (std::int64_t round = 1; round <= count; ++round) records.push_back(round_record(round));
  return records;
}

TEST(LiveCell, IsAtWorkWhenAProcessHoldsIt) {
  const Summary interrupted = unfinished("fedavg", 1, 0);
  const Summary done = finished("fedavg", 1, 0.5);
  EXPECT_EQ(live_cell("a", running(), {}, true, 0).work, Work::kRunning);
  EXPECT_EQ(live_cell("a", running(), {}, false, 0).work, Work::kLeft);
  EXPECT_EQ(live_cell("a", running(), {}, std::nullopt, 0).work, Work::kRunning);
  // A process that resumes a run holds it before it says so.
  EXPECT_EQ(live_cell("a", interrupted, {}, true, 0).work, Work::kRunning);
  EXPECT_EQ(live_cell("a", interrupted, {}, false, 0).work, Work::kInterrupted);
  EXPECT_EQ(live_cell("a", interrupted, {}, std::nullopt, 0).work, Work::kInterrupted);
  Summary failed = interrupted;
  failed.state = kFailed;
  EXPECT_EQ(live_cell("a", failed, {}, true, 0).work, Work::kRunning);
  EXPECT_EQ(live_cell("a", failed, {}, false, 0).work, Work::kFailed);
  EXPECT_EQ(live_cell("a", failed, {}, std::nullopt, 0).work, Work::kFailed);
  // A process that ends a run says so before it lets go.
  EXPECT_EQ(live_cell("a", done, rounds(20), true, 0).work, Work::kFinished);
}

TEST(LiveCell, CountsTheRoundsOnDiskAndNotThoseOfTheLastCheckpoint) {
  const LiveCell cell = live_cell("a", running(), rounds(7), true, 0);
  EXPECT_EQ(cell.done, 7);
  EXPECT_EQ(cell.summary.rounds, 20);
  EXPECT_EQ(cell.name, "fedavg, seed 1");
  EXPECT_EQ(cell.round_seconds, kRoundSeconds);
}

TEST(LiveCell, NamesItsPointOfAGrid) {
  Summary summary = running();
  summary.sweep = {{"partition.alpha", "0.1"}, {"training.rate", "1"}};
  EXPECT_EQ(live_cell("a", summary, {}, true, 0).name,
            "partition.alpha=0.1, training.rate=1, fedavg, seed 1");
}

TEST(LiveCell, EstimatesTheTimeLeft) {
  const auto left = [](std::int64_t done, double since) {
    return live_cell("a", running(), rounds(done), true, since).seconds_left;
  };
  EXPECT_EQ(left(5, 0), 15 * kRoundSeconds);
  EXPECT_EQ(left(5, 1), 15 * kRoundSeconds - 1);
  // A round that takes long, a clock that goes wrong.
  EXPECT_EQ(left(5, 1e6), 14 * kRoundSeconds);
  EXPECT_EQ(left(5, -1e6), 15 * kRoundSeconds);
  EXPECT_EQ(left(20, 1), 0);
  EXPECT_EQ(left(0, 1), std::nullopt);
  EXPECT_EQ(live_cell("a", running(), rounds(5), false, 60).seconds_left, std::nullopt);
  EXPECT_EQ(live_cell("a", running(), rounds(5), false, 60).since_written, 60);
  EXPECT_EQ(live_cell("a", finished("a", 1, 0.5), rounds(20), false, 60).since_written, std::nullopt);
}

TEST(LiveCell, ShowsTheLastEvaluation) {
  std::vector<RoundRecord> records = rounds(4);
  records[0].test_accuracy = 0.25;
  records[1].test_accuracy = records[1].test_loss = std::nullopt;
  records[2].test_accuracy = 0.5;
  records[2].test_loss = INFINITY;
  records[3].test_accuracy = records[3].test_loss = std::nullopt;
  const LiveCell cell = live_cell("a", running(), records, true, 0);
  EXPECT_EQ(cell.accuracy, 0.5);
  EXPECT_EQ(cell.loss, INFINITY);
  EXPECT_THAT(cell.curve, ElementsAre(0.25, 0.5));
}

TEST(LiveCell, DrawsTheLossOfARegression) {
  std::vector<RoundRecord> records = rounds(2);
  for (RoundRecord& record : records) record.test_accuracy = std::nullopt;
  records[0].test_loss = 3;
  const LiveCell cell = live_cell("a", running(), records, true, 0);
  EXPECT_EQ(cell.accuracy, std::nullopt);
  EXPECT_THAT(cell.curve, ElementsAre(3, 0.25));
}

TEST(LiveCell, TellsEpsilonAfterTheLastRound) {
  std::vector<RoundRecord> records = rounds(2);
  records[0].epsilon = 1;
  records[1].epsilon = 1.5;
  Summary summary = running();
  summary.policy = "record";
  summary.privacy = PrivacyClaim{.unit = "record"};
  EXPECT_THAT(live_cell("a", summary, {}, true, 0).curve, IsEmpty());
  EXPECT_EQ(live_cell("a", summary, records, true, 0).epsilon, 1.5);
  records[1].epsilon = std::nullopt;
  EXPECT_EQ(live_cell("a", summary, records, true, 0).epsilon, std::nullopt);
}

TEST(LiveCell, KeepsSecondsSecretAsTablesDo) {
  Summary summary = running();
  EXPECT_FALSE(live_cell("a", summary, rounds(2), true, 0).has_secret_seconds());
  EXPECT_TRUE(live_cell("a", summary, rounds(2), true, 0).seconds_left);
  summary.policy = "record";
  summary.privacy = PrivacyClaim{.unit = "record"};
  EXPECT_TRUE(live_cell("a", summary, rounds(2), true, 0).has_secret_seconds());
  EXPECT_FALSE(live_cell("a", summary, rounds(2), true, 0).seconds_left)
      << "which is those of a round, times rounds";
  EXPECT_TRUE(
      live_cell("a", finished_privately("dp-fedavg", 1, 0.5), rounds(20), true, 0).has_secret_seconds());
}

// A plan that data ended early is charged in full, which no round knows.
TEST(LiveCell, TellsTheClaimOfAFinishedRunAndWhatItRestsOn) {
  std::vector<RoundRecord> records = rounds(20);
  records.back().epsilon = 1.5;
  Summary summary = finished_privately("dp-fedavg", 1, 0.5);
  EXPECT_EQ(live_cell("a", summary, records, true, 0).epsilon, 2.78664);
  summary.audit = CanaryAudit{.control = true};
  const LiveCell cell = live_cell("a", summary, records, true, 0);
  EXPECT_TRUE(cell.control);
  EXPECT_EQ(cell.name, "dp-fedavg, seed 1 (control)");
}

}  // namespace
}  // namespace fedarena::results
