#include "results/live/live_text.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "results/text/text.hpp"
#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

constexpr std::size_t kWide = 100;
const PrivacyClaim kHidesSizes{.unit = "record"};

TEST(Sparkline, RisesFromTheSmallestToTheLargestValue) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, kWide, Letters::kUnicode), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, kWide, Letters::kAscii), ".:-=+*#@");
  EXPECT_EQ(sparkline(std::vector{0.2, 0.9, 0.2}, kWide, Letters::kUnicode), "▁█▁");
}

TEST(Sparkline, HasAtMostSoManyLettersAndEndsWithTheLastValue) {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(sparkline(values, 4, Letters::kAscii), ":=*@");
  EXPECT_EQ(sparkline(values, 1, Letters::kAscii), "@");
  EXPECT_EQ(sparkline(values, 0, Letters::kAscii), "");
  values.back() = -1;
  EXPECT_EQ(sparkline(values, 4, Letters::kAscii), "-+#.");
}

TEST(Sparkline, ShowsWhatIsNoNumberAndWhatIsTooLarge) {
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_EQ(sparkline(std::vector<double>{0, std::nan(""), INFINITY, 1}, kWide, Letters::kAscii), ".!!@");
  EXPECT_EQ(sparkline(std::vector{std::nan("")}, kWide, Letters::kUnicode), "!");
  EXPECT_EQ(sparkline(std::vector{-kMost, 0.0, kMost}, kWide, Letters::kAscii), ".+@");
}

TEST(Sparkline, KeepsEqualValuesInTheMiddle) {
  EXPECT_EQ(sparkline(std::vector{0.5, 0.5}, kWide, Letters::kUnicode), "▄▄");
  EXPECT_EQ(sparkline({}, kWide, Letters::kUnicode), "");
}

LiveCell running_cell(const std::string& label = "fedavg") {
  LiveCell cell{.path = "runs/" + label + "-seed-1",
                .work = Work::kRunning,
                .name = label + ", seed 1",
                .done = 8,
                .accuracy = 0.6312,
                .loss = 1.25,
                .curve = {0, 1, 2, 3, 4, 5, 6, 7},
                .round_seconds = 0.25,
                .since_written = 1,
                .seconds_left = 65};
  cell.summary.experiment = "quickstart";
  cell.summary.rounds = 20;
  return cell;
}

LiveCell with(Work work, const std::string& label) {
  LiveCell cell = running_cell(label);
  cell.work = work;
  cell.seconds_left = std::nullopt;
  if (work == Work::kFinished) {
    cell.done = 20;
    cell.since_written = std::nullopt;
  }
  return cell;
}

TEST(LiveText, ShowsWhatRunsFirst) {
  const LiveCell broken{.path = "runs/b", .problem = "summary.json: field \"seed\" is missing"};
  const std::vector cells = {with(Work::kFinished, "done"), broken, with(Work::kLeft, "left"),
                             with(Work::kInterrupted, "stopped"), running_cell()};
  EXPECT_EQ(live_text(cells, {}),
            "5 cells begun: 1 running, 1 no process, 1 interrupted, 1 broken, 1 finished; 44 of 80 rounds; "
            "1 min 05 s left for those that run\n"
            "state        cell             rounds  accuracy   loss  s/round  curve     time left\n"
            "running      fedavg, seed 1     8/20   63.12 %  1.250     0.25  ▁▂▃▄▅▆▇█  1 min 05 s\n"
            "no process   left, seed 1       8/20   63.12 %  1.250     0.25  ▁▂▃▄▅▆▇█  written 1 s ago\n"
            "interrupted  stopped, seed 1    8/20   63.12 %  1.250     0.25  ▁▂▃▄▅▆▇█  written 1 s ago\n"
            "broken       runs/b: summary.json: field \"seed\" is missing\n"
            "finished     done, seed 1      20/20   63.12 %  1.250     0.25  ▁▂▃▄▅▆▇█\n"
            "no process: recorded as running, but killed, or at work on another machine\n");
}

// Beside a cell whose seconds are secret, the others' would be taken for the time that all need.
TEST(LiveText, TellsNoTimeLeftForAllWhereSomeIsSecret) {
  LiveCell hidden = with(Work::kRunning, "dp-fedavg");
  hidden.summary.privacy = kHidesSizes;
  EXPECT_THAT(live_text(std::vector{running_cell(), hidden}, {}), Not(HasSubstr("left for those that run")));
  EXPECT_THAT(live_text(std::vector{running_cell(), hidden}, {}), HasSubstr("  1 min 05 s\n"));
}

TEST(LiveText, SaysWhatDivergedInsteadOfItsAccuracy) {
  LiveCell cell = running_cell();
  cell.loss = NAN;
  EXPECT_THAT(live_text(std::vector{cell}, {}), AllOf(HasSubstr("  diverged  "), Not(HasSubstr("63.12 %"))));
}

TEST(LiveText, HasTheColumnsThatAreNeeded) {
  LiveCell cell = running_cell();
  cell.accuracy = std::nullopt;
  cell.loss = 0.5;
  EXPECT_THAT(live_text(std::vector{cell}, {}), HasSubstr("RMSE 1.000"));
  EXPECT_THAT(live_text(std::vector{cell}, {}), Not(HasSubstr("epsilon")));
  cell.summary.privacy = PrivacyClaim{.unit = "record", .adjacency = "replace-one"};
  EXPECT_THAT(live_text(std::vector{cell}, {}), HasSubstr("  unproven  "));
  cell.epsilon = 2.78664;
  EXPECT_THAT(live_text(std::vector{cell}, {}), HasSubstr("     2.79  "));
  cell.epsilon = INFINITY;
  EXPECT_THAT(live_text(std::vector{cell}, {}), HasSubstr("      inf  "));
  LiveCell begun = running_cell();
  begun.done = 0;
  begun.accuracy = begun.loss = begun.round_seconds = begun.since_written = begun.seconds_left = std::nullopt;
  begun.curve.clear();
  EXPECT_EQ(live_text(std::vector{begun}, {}),
            "1 cell begun: 1 running; 0 of 20 rounds\n"
            "state    cell            rounds  curve  time left\n"
            "running  fedavg, seed 1    0/20\n");
}

TEST(LiveText, SaysWhatEpsilonsRestOn) {
  LiveCell cell = running_cell();
  cell.summary.privacy =
      PrivacyClaim{.unit = "record", .settings = {.assume = "poisson"}, .public_data = {"a", "b"}};
  cell.control = true;
  cell.epsilon = 2.78664;
  EXPECT_THAT(live_text(std::vector{cell, cell}, {}),
              AllOf(HasSubstr("  2.79†  "),
                    EndsWith("† rests on assume = \"poisson\", which nobody has proven right\n"
                             "(control): of an audit, without noise; its epsilon is infinite\n"
                             "the epsilon of 2 cells takes as public, beside sizes: a, b\n")));
  EXPECT_THAT(live_text(std::vector{cell}, {.letters = Letters::kAscii}),
              AllOf(HasSubstr("  2.79+  "), HasSubstr("\n+ rests on assume"), Not(HasSubstr("†"))));
  cell.epsilon = INFINITY;
  EXPECT_THAT(live_text(std::vector{cell}, {}), Not(HasSubstr("†"))) << "which assumes nothing";
  cell.summary.privacy->settings.delta = 0.1;
  cell.summary.privacy->units = 10;
  EXPECT_THAT(live_text(std::vector{cell, cell, running_cell()}, {}),
              HasSubstr("\n2 cells: delta 0.1 is not below 1/10, one over the number of examples"));
}

TEST(LiveText, SaysThatNoEpsilonCoversTrials) {
  LiveCell cell = running_cell();
  cell.summary.tuning = Tuning{};
  EXPECT_THAT(live_text(std::vector{cell}, {}), Not(HasSubstr("trials"))) << "and there is no epsilon";
  cell.summary.privacy = PrivacyClaim{.unit = "record"};
  EXPECT_THAT(
      live_text(std::vector{cell, cell}, {}),
      EndsWith("\nepsilon does not cover the trials: they, and the choice among them, looked at private "
               "data, too\n"));
}

TEST(LiveText, LeavesSecretSecondsOut) {
  LiveCell cell = running_cell();
  EXPECT_THAT(live_text(std::vector{cell}, {}), has_all("s/round", "0.25"));
  cell.summary.privacy = kHidesSizes;
  EXPECT_THAT(live_text(std::vector{cell}, {}), AllOf(Not(HasSubstr("s/round")), Not(HasSubstr("0.25"))));
}

TEST(LiveText, NamesTheExperimentWhereThereAreSeveral) {
  std::vector cells = {running_cell(), running_cell()};
  EXPECT_THAT(live_text(cells, {}), HasSubstr("running  fedavg, seed 1 "));
  cells[1].summary.experiment = "other";
  EXPECT_THAT(live_text(cells, {}), HasSubstr("running  other: fedavg, seed 1 "));
}

TEST(LiveText, NamesTheFolderWhereCellsHaveOneName) {
  LiveCell again = running_cell();
  again.path = "runs-2/fedavg-seed-1";
  const std::string text = live_text(std::vector{running_cell(), again, running_cell("fedprox")}, {});
  EXPECT_THAT(text, has_all("  runs: fedavg, seed 1 ", "  runs-2: fedavg, seed 1 ", "  fedprox, seed 1 "));
}

TEST(LiveText, FitsTheScreen) {
  std::vector<LiveCell> cells(3, running_cell());
  cells.resize(30, with(Work::kFinished, "a-rather-long-label-for-an-algorithm"));
  cells[5].curve.resize(100, 3.0);
  for (const std::size_t columns : {1U, 2U, 20U, 79U, 100U, 200U}) {
    for (const std::size_t rows : {1U, 3U, 5U, 10U, 40U}) {
      for (const Letters letters : {Letters::kAscii, Letters::kUnicode}) {
        const std::vector<std::string> lines =
            lines_of(live_text(cells, {.columns = columns, .rows = rows, .letters = letters}));
        EXPECT_LE(lines.size(), std::max<std::size_t>(rows, 3));
        for (const std::string& line : lines) EXPECT_LE(display_width(line), columns);
      }
    }
  }
}

TEST(LiveText, ShowsWhatFailedBeforeWhatIsFinished) {
  const std::vector cells = {with(Work::kFinished, "done"), with(Work::kFailed, "ill"),
                             with(Work::kInterrupted, "stopped")};
  EXPECT_THAT(lines_of(live_text(cells, {})),
              ElementsAre(HasSubstr("1 interrupted, 1 failed, 1 finished"), HasSubstr("state"),
                          HasSubstr("interrupted  stopped"), HasSubstr("failed       ill, seed 1"),
                          HasSubstr("finished     done")));
}

TEST(LiveText, CountsWhatFindsNoRoom) {
  std::vector<LiveCell> cells(3, running_cell());
  cells.resize(7, with(Work::kFinished, "done"));
  const std::vector<std::string> lines = lines_of(live_text(cells, {.rows = 6}));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("7 cells begun"), HasSubstr("state"), HasSubstr("running"),
                                 HasSubstr("running"), HasSubstr("running"), "and 4 more: 4 finished"));
  EXPECT_THAT(lines_of(live_text(cells, {.rows = 5})).back(), "and 5 more: 1 running, 4 finished");
  EXPECT_EQ(lines_of(live_text(cells, {.rows = 9})).size(), 9U);
}

TEST(LiveText, GivesCurvesTheRoomThatIsLeft) {
  LiveCell cell = running_cell();
  cell.curve.assign(100, 0.0);
  cell.curve.back() = 1;
  const auto length = [&](std::size_t columns) {
    const std::string text = live_text(std::vector{cell}, {.columns = columns, .letters = Letters::kAscii});
    const std::string line = lines_of(text)[2];
    return std::ranges::count(line.substr(0, line.find('@')), '.') - 3;  // of the numbers before it
  };
  EXPECT_EQ(length(Screen::kEndless), 39);
  EXPECT_EQ(length(100), 28);
}

TEST(LiveText, CutsNamesBeforeNumbers) {
  LiveCell cell = running_cell();
  cell.name = "partition.kind=dirichlet-niid-bench, training.rate=0.1, fedavg, seed 1";
  EXPECT_EQ(lines_of(live_text(std::vector{cell}, {.columns = 80}))[2],
            "running  …fedavg, seed 1    8/20   63.12 %  1.250     0.25  ▁▂▃▄▅▆▇█  1 min 05 s");
  EXPECT_EQ(lines_of(live_text(std::vector{cell}, {.columns = 80, .letters = Letters::kAscii}))[2],
            "running  ...davg, seed 1    8/20   63.12 %  1.250     0.25  .:-=+*#@  1 min 05 s");
}

TEST(LiveText, LetsNoNameBreakALine) {
  LiveCell cell = running_cell();
  cell.name = "two\nlines\033[2J";
  EXPECT_EQ(lines_of(live_text(std::vector{cell}, {})).size(), 3U);
  EXPECT_THAT(live_text(std::vector{cell}, {}), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace fedarena::results
