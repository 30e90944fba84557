#include <cmath>

#include <gmock/gmock.h>

#include "results/live/live_text.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

// As it is shown where nobody knows more than the record.
std::vector<LiveCell> as_recorded(const std::vector<Summary>& summaries) {
  std::vector<LiveCell> cells;
  for (const Summary& summary : summaries) {
    const std::vector<RoundRecord> rounds(static_cast<std::size_t>(summary.rounds_done));
    cells.push_back(live_cell(found(summary).path, summary, rounds, std::nullopt, 0));
  }
  return cells;
}

TEST(List, AlignsWhatItShows) {
  std::vector<LiveCell> cells =
      as_recorded({finished("fedavg", 1, 0.71234), unfinished("fedprox-long", 10, 3)});
  cells.push_back({.path = "runs/broken", .problem = "summary.json: field \"seed\" is missing"});
  EXPECT_EQ(render_list(cells),
            R"(run                        experiment  algorithm     seed  state        rounds  accuracy
runs/fedavg-seed-1         quickstart  fedavg           1  finished      20/20   71.23 %
runs/fedprox-long-seed-10  quickstart  fedprox-long    10  interrupted    3/20
runs/broken                broken: summary.json: field "seed" is missing
)");
}

TEST(List, HasTheLastAccuracyOfRunsThatGoOn) {
  const Summary summary = unfinished("fedavg", 1, 1);
  RoundRecord round;
  round.test_accuracy = 0.5;
  round.test_loss = 1;
  EXPECT_THAT(render_list(std::vector{live_cell("a", summary, {&round, 1}, std::nullopt, 0)}),
              testing::HasSubstr("  interrupted    1/20   50.00 %\n"));
}

TEST(List, SaysBelowWhyRunsFailed) {
  Summary failed = unfinished("fedavg", 1, 3);
  failed.state = kFailed;
  failed.failure = "it threw\na stone";
  EXPECT_EQ(render_list(as_recorded({failed, finished("fedprox", 1, 0.71234)})),
            R"(run                  experiment  algorithm  seed  state     rounds  accuracy
runs/fedavg-seed-1   quickstart  fedavg        1  failed      3/20
runs/fedprox-seed-1  quickstart  fedprox       1  finished   20/20   71.23 %
runs/fedavg-seed-1 failed: it threw a stone
)");
}

TEST(List, MarksControls) {
  Summary control = finished_privately("dp-fedavg", 1, 0.5);
  control.audit = CanaryAudit{.control = true};
  EXPECT_THAT(render_list(as_recorded({control})), testing::HasSubstr(" dp-fedavg (control) "));
}

TEST(List, OfNothingIsItsHeading) {
  EXPECT_EQ(render_list({}), "run  experiment  algorithm  seed  state  rounds  accuracy\n");
}

TEST(List, SaysWhatEndedARunEarlyAndTheErrorOfARegression) {
  Summary regression = stopped_by_budget("fedavg", 1, 0.5);
  regression.final_test_accuracy = std::nullopt;
  EXPECT_EQ(render_list(as_recorded({regression})),
            R"(run                 experiment  algorithm  seed  state              rounds    accuracy
runs/fedavg-seed-1  quickstart  fedavg        1  finished (budget)   15/20  RMSE 1.000
)");
  Summary summary = finished("fedavg", 1, 0.5);
  summary.stopped = kStoppedByTarget;
  EXPECT_THAT(render_list(as_recorded({summary})), testing::HasSubstr(" finished (target) "));
  summary.final_test_loss = HUGE_VAL;
  EXPECT_THAT(render_list(as_recorded({summary})), testing::HasSubstr(" finished (target, diverged) "));
  summary.stopped.clear();
  EXPECT_THAT(render_list(as_recorded({summary})), testing::HasSubstr(" finished (diverged) "));
}

}  // namespace
}  // namespace fedarena::results
