#include "results/export/exported_runs.hpp"

#include "results/record/run_directory.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/attack_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// A run of so many of its two rounds.
void make_run(const fs::path& path, std::int64_t rounds = 2) {
  Summary summary = rounds == 2 ? finished("fedavg", 1, 0.75) : unfinished("fedavg", 1, rounds);
  summary.rounds = 2;
  summary.rounds_done = rounds;
  RunDirectory run = RunDirectory::create(path, "", "{}", summary);
  for (std::int64_t round = 1; round <= rounds; ++round)
    run.append(rounds == 2 ? round_of(summary, round) : round_record(round));
}

class ExportedRunsTest : public WithFolder {};

TEST_F(ExportedRunsTest, HaveNamesAndAllRoundsAlsoOfUnfinishedRuns) {
  make_run(folder_ / "a");
  make_run(folder_ / "deep/b", 1);
  const ExportedRuns exported = read_exported_runs(std::vector{folder_.path()});
  ASSERT_EQ(exported.runs.size(), 2U);
  EXPECT_EQ(exported.runs[0].name, "a");
  EXPECT_EQ(exported.runs[0].rounds.size(), 2U);
  EXPECT_EQ(exported.runs[1].name, "deep/b");
  EXPECT_EQ(exported.runs[1].rounds, std::vector{round_record(1)});
  EXPECT_EQ(exported.runs[1].summary.state, kInterrupted);
  EXPECT_THAT(exported.notes, ElementsAre("1 of 2 runs is not finished: exported as far as they are"));
}

TEST_F(ExportedRunsTest, AreNotedWhereTheirDeltaSaysLittle) {
  for (const std::int64_t units : {10'000, 100'000}) {
    Summary summary = finished_privately("dp-fedavg", 1, 0.75);
    summary.rounds = summary.rounds_done = 1;
    summary.privacy->units = units;
    RunDirectory::create(folder_ / std::to_string(units), "", "{}", summary).append(round_of(summary, 1));
  }
  EXPECT_THAT(read_exported_runs(std::vector{folder_.path()}).notes,
              Contains(HasSubstr("1 run: delta 1e-5 is not below 1/100000")));
}

TEST_F(ExportedRunsTest, SayWhatEpsilonsOfUnfinishedRunsRestOn) {
  const RecordedRun run(folder_ / "a", {.finished = false, .accesses = [](std::int64_t, std::int64_t) {
                                          RoundAccesses accesses = private_steps(10);
                                          accesses.add(DeclaredPublic{"classes"});
                                          return accesses;
                                        }});
  run.change_summary([](Summary& summary) { summary.privacy->settings.delta = 0.01; });
  const ExportedRuns exported = read_exported_runs(std::vector{folder_.path()});
  EXPECT_THAT(exported.runs.at(0).summary.privacy->public_data, ElementsAre("each client's classes"));
  EXPECT_THAT(exported.notes, Contains(HasSubstr("1 run: delta 0.01 is not below 1/3003")));
}

TEST_F(ExportedRunsTest, HaveTheirAttacksAndAreKeptWhereThoseAreDamaged) {
  make_run(folder_ / "good");
  make_run(folder_ / "bad");
  const RunDirectory good = RunDirectory::open(folder_ / "good");
  write_attacks(good, sample_attacks(good));
  put(folder_ / "bad/attack.json", "{");
  const ExportedRuns exported = read_exported_runs(std::vector{folder_.path()});
  ASSERT_EQ(exported.runs.size(), 2U);
  EXPECT_EQ(exported.runs[0].attacks, std::nullopt);
  EXPECT_EQ(exported.runs[1].attacks, sample_attacks(good));
  EXPECT_THAT(exported.notes, ElementsAre(HasSubstr("bad: attack.json")));
}

TEST_F(ExportedRunsTest, DoNotHoldBrokenOnesAndSayWhich) {
  make_run(folder_ / "good");
  make_run(folder_ / "begun", 0);
  make_run(folder_ / "short");
  const std::string rounds = test::content_of(folder_ / "short/rounds.jsonl");
  put(folder_ / "short/rounds.jsonl", rounds.substr(0, rounds.find('\n') + 1));
  make_run(folder_ / "edited");
  put(folder_ / "edited/rounds.jsonl", rounds + "{\"round\": 3}\n");
  make_run(folder_ / "old");
  put(folder_ / "old/summary.json", "{\"schema\": 9}");
  const ExportedRuns exported = read_exported_runs(std::vector{folder_.path()});
  ASSERT_EQ(exported.runs.size(), 1U);
  EXPECT_EQ(exported.runs[0].name, "good");
  EXPECT_THAT(
      exported.notes,
      ElementsAre(HasSubstr("begun: no round is complete yet; not exported"),
                  HasSubstr("edited: rounds.jsonl:3: field \"test_loss\" is missing; not exported"),
                  HasSubstr("old: summary.json: field \"schema\" is 9, and this build reads 2: run the "
                            "experiment again, or take the build that wrote it; not exported"),
                  HasSubstr("short: rounds.jsonl: holds 1 round; allowed: 2, as field \"rounds_done\" of "
                            "summary.json says; not exported")));
}

TEST_F(ExportedRunsTest, AreRefusedWhereNoneIsLeft) {
  make_run(folder_ / "begun", 0);
  expect_refused("begun: no round is complete yet\n",
                 [&] { read_exported_runs(std::vector{folder_.path()}); });
  put(folder_ / "begun/summary.json", "{}");
  expect_refused("begun: summary.json: field \"schema\" is missing\n",
                 [&] { read_exported_runs(std::vector{folder_.path()}); });
}

TEST(RecordedRounds, AreNoMoreThanPlanned) {
  const Scratch folder;
  make_run(folder / "a", 1);
  Summary summary = RunDirectory::open(folder / "a").summary();
  RunDirectory run = RunDirectory::open(folder / "a");
  run.append(round_record(2));
  EXPECT_EQ(read_exported_runs(std::vector{folder.path()}).runs.at(0).rounds.size(), 2U);
  run.append(round_record(3));
  expect_refused("rounds.jsonl: holds 3 rounds; allowed: at most the 2 planned ones\n",
                 [&] { read_exported_runs(std::vector{folder.path()}); });
}

}  // namespace
}  // namespace fedarena::results
