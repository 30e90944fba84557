#include "results/export/exported_runs.hpp"

#include "results/record/run_directory.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/attack_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// A run of so many of its two rounds.
void make_run(const fs::path& path, std::int64_t rounds = 2) {
  Summary summary = rounds == 2 ? finished("fedavg", 1, 0.75) : unfinished("fedavg", 1, rounds);
  summary.rounds = 2;
  summary.rounds_done = rounds;
  RunDirectory run = RunDirectory::create(path, "", "{}", summary);
  for (std::int64_t round = 1; round <= rounds; ++round) run.append(round_record(round));
}

std::vector<std::string> names(const std::vector<fs::path>& folders) {
  std::vector<std::string> found;
  for (const ExportedRun& run : read_exported_runs(folders).runs) found.push_back(run.name);
  return found;
}

TEST(ExportedRuns, AreNamedByTheirPathBelowWhatIsGiven) {
  const Scratch folder;
  make_run(folder / "runs/one/a=1/fedavg-seed-1");
  make_run(folder / "runs/one/a=2/fedavg-seed-1");
  make_run(folder / "runs/two/fedavg-seed-1");
  EXPECT_THAT(names({folder / "runs/one"}), ElementsAre("a=1/fedavg-seed-1", "a=2/fedavg-seed-1"));
  EXPECT_THAT(names({folder / "runs/one/"}), ElementsAre("a=1/fedavg-seed-1", "a=2/fedavg-seed-1"));
  EXPECT_THAT(names({folder / "runs/one/a=1"}), ElementsAre("fedavg-seed-1"));
  EXPECT_THAT(names({folder / "runs/one/a=1/fedavg-seed-1"}), ElementsAre("fedavg-seed-1"));
  EXPECT_THAT(names({folder / "runs/two", folder / "runs/one"}),
              ElementsAre("one/a=1/fedavg-seed-1", "one/a=2/fedavg-seed-1", "two/fedavg-seed-1"));
  EXPECT_THAT(names({folder / "runs", folder / "runs/two/fedavg-seed-1"}),
              ElementsAre("one/a=1/fedavg-seed-1", "one/a=2/fedavg-seed-1", "two/fedavg-seed-1"));
}

TEST(ExportedRuns, HaveAllRoundsAlsoOfUnfinishedRuns) {
  const Scratch folder;
  make_run(folder / "a");
  make_run(folder / "b", 1);
  const ExportedRuns exported = read_exported_runs(std::vector{folder.path()});
  ASSERT_EQ(exported.runs.size(), 2U);
  EXPECT_EQ(exported.runs[0].rounds.size(), 2U);
  EXPECT_EQ(exported.runs[1].rounds, std::vector{round_record(1)});
  EXPECT_EQ(exported.runs[1].summary.state, kInterrupted);
  EXPECT_THAT(exported.notes, ElementsAre("1 of 2 runs is not finished: exported as far as they are"));
}

TEST(ExportedRuns, HaveTheirAttacksAndAreKeptWhereThoseAreDamaged) {
  const Scratch folder;
  make_run(folder / "good");
  make_run(folder / "bad");
  const RunDirectory good = RunDirectory::open(folder / "good");
  write_attacks(good, sample_attacks(good));
  put(folder / "bad/attack.json", "{");
  const ExportedRuns exported = read_exported_runs(std::vector{folder.path()});
  ASSERT_EQ(exported.runs.size(), 2U);
  EXPECT_EQ(exported.runs[0].attacks, std::nullopt);
  EXPECT_EQ(exported.runs[1].attacks, sample_attacks(good));
  EXPECT_THAT(exported.notes, ElementsAre(HasSubstr("bad: attack.json")));
}

TEST(ExportedRuns, DoNotHoldBrokenOnesAndSayWhich) {
  const Scratch folder;
  make_run(folder / "good");
  make_run(folder / "begun", 0);
  make_run(folder / "short");
  const std::string rounds = test::content_of(folder / "short/rounds.jsonl");
  put(folder / "short/rounds.jsonl", rounds.substr(0, rounds.find('\n') + 1));
  make_run(folder / "edited");
  put(folder / "edited/rounds.jsonl", rounds + "{\"round\": 3}\n");
  make_run(folder / "old");
  put(folder / "old/summary.json", "{\"schema\": 9}");
  const ExportedRuns exported = read_exported_runs(std::vector{folder.path()});
  ASSERT_EQ(exported.runs.size(), 1U);
  EXPECT_EQ(exported.runs[0].name, "good");
  EXPECT_THAT(
      exported.notes,
      ElementsAre(HasSubstr("begun: no round is complete yet; not exported"),
                  HasSubstr("edited: rounds.jsonl:3: field \"test_loss\" is missing; not exported"),
                  HasSubstr("old: summary.json: field \"schema\" is 9, and this build reads 2: run the "
                            "experiment again, or take the build that wrote it; not exported"),
                  HasSubstr("short: rounds.jsonl: holds 1 rounds; allowed: 2, as field \"rounds_done\" of "
                            "summary.json says; not exported")));
}

TEST(ExportedRuns, DoNotMindATornLastLine) {
  const Scratch folder;
  make_run(folder / "a", 1);
  put(folder / "a/rounds.jsonl", test::content_of(folder / "a/rounds.jsonl") + "{\"round\":");
  EXPECT_EQ(read_exported_runs(std::vector{folder.path()}).runs.at(0).rounds.size(), 1U);
}

TEST(ExportedRuns, AreRefusedWhereNoneIsLeft) {
  const Scratch folder;
  make_run(folder / "begun", 0);
  EXPECT_THAT(message_of([&] { read_exported_runs(std::vector{folder.path()}); }),
              HasSubstr("begun: no round is complete yet\n"));
  put(folder / "begun/summary.json", "{}");
  EXPECT_THAT(message_of([&] { read_exported_runs(std::vector{folder.path()}); }),
              HasSubstr("begun: summary.json: field \"schema\" is missing\n"));
}

TEST(RecordedRounds, AreNoMoreThanPlanned) {
  const Scratch folder;
  make_run(folder / "a", 1);
  Summary summary = RunDirectory::open(folder / "a").summary();
  RunDirectory run = RunDirectory::open(folder / "a");
  run.append(round_record(2));
  EXPECT_EQ(read_exported_runs(std::vector{folder.path()}).runs.at(0).rounds.size(), 2U);
  run.append(round_record(3));
  EXPECT_THAT(message_of([&] { read_exported_runs(std::vector{folder.path()}); }),
              HasSubstr("rounds.jsonl: holds 3 rounds; allowed: at most the 2 planned ones\n"));
}

}  // namespace
}  // namespace fedarena::results
