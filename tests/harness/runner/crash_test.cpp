// Runs that die between any two steps on the way to the disk. Noise of the system's generator is never the
// same twice, so whatever could have been read of a round must be charged, each time that it was answered.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "harness/runner/record/unfinished_run.hpp"
#include "harness/simulation/checkpoint.hpp"
#include "results/record/run_setup.hpp"
#include "tests/harness/runner/crashing_runs.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

TEST_P(Crashes, ChargeForWhateverCouldBeRead) {
  bool died = true;
  std::int64_t lost = 0;
  // Each step takes three processes: four seconds a policy for all of them.
  for (int steps = 0; died; steps += test::long_tests() ? 1 : 4) {
    folder = scratch / std::to_string(steps);
    seen.clear();
    published.clear();
    remembered.clear();
    died = !run(steps);
    look();
    if (died) run(steps), look();
    ASSERT_TRUE(run(kNever)) << "after death at step " << steps;
    look();
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      const std::int64_t charged = attempts_charged(round);
      EXPECT_LE(static_cast<std::int64_t>(seen[round].size()), charged)
          << "round " << round << ", step " << steps;
      EXPECT_LE(static_cast<std::int64_t>(remembered[round].size()), charged)
          << "what a client remembers of round " << round << ", step " << steps;
      EXPECT_EQ(published[round].size(), 1U) << "round " << round << " came twice, step " << steps;
      if (!draws_by_system()) {
        EXPECT_EQ(charged, 1);
      }
      lost += charged - 1;
    }
    EXPECT_EQ(results::SyntheticFolder(folder).rounds(), (std::vector<std::int64_t>{1, 2}));
    const results::FoundRun found = results::find_runs(std::vector<fs::path>{folder}).front();
    EXPECT_TRUE(results::verify_seal(found).differences.empty()) << "step " << steps;
  }
  // Labels are lost in the first round alone, where the steps that are tried may all miss it.
  if (unit(GetParam()) == Unit::kLabel && !test::long_tests()) return;
  EXPECT_EQ(lost > 0, draws_by_system())
      << "of what was begun and lost, noise that comes again is not charged twice";
}

// Whoever looks at a run that was killed while it ended finds an unfinished or a finished one, and no edit.
TEST_P(Crashes, AtTheEndAreNotTakenForEdits) {
  planned = kRounds + 2;  // so that nobody planned to evaluate the last round, and that rounds are left out
  folder = scratch / "whole";
  ASSERT_TRUE(run(kNever));
  // The experiment file of this run says little.
  const std::set<std::string> always = findings();
  EXPECT_FALSE(always.contains("seal.json: the state that it seals"));
  const std::string ledger = results::read_whole_file(folder / results::kLedgerFile);
  bool died = true;
  int sealed = 0;
  for (int steps = 0; died; ++steps) {
    folder = scratch / std::to_string(steps);
    died = !run_and_die_at_the_end(steps);
    const bool finished = results::RunDirectory::open(folder).summary().state == results::kFinished;
    if (!finished && fs::exists(folder / "seal.json")) ++sealed;
    EXPECT_THAT(findings(), testing::IsSubsetOf(always)) << "step " << steps;
    ASSERT_TRUE(run(kNever)) << "after death at step " << steps;
    EXPECT_EQ(findings(), always) << "step " << steps;
    EXPECT_EQ(results::SyntheticFolder(folder).rounds(), (std::vector<std::int64_t>{1, 2}))
        << "step " << steps;
    // Cohorts that the system draws are others in each run.
    if (unit(GetParam()) == Unit::kClient && draws_by_system()) continue;
    EXPECT_EQ(results::read_whole_file(folder / results::kLedgerFile), ledger) << "step " << steps;
  }
  EXPECT_GT(sealed, 0);
}

// As where the disk is full then.
TEST_P(Crashes, LeaveAnUnfinishedRunWhereTheLastWriteFails) {
  const fs::path obstacle = run_and_interrupt_after(1) / "seal.json.partial";
  fs::create_directory(obstacle);
  test::expect_refused("seal.json: cannot be written", [&] { run_here(); });
  EXPECT_EQ(results::RunDirectory::open(folder).summary().state, results::kInterrupted);
  fs::remove(obstacle);
  EXPECT_TRUE(run(kNever));
}

// A write fails once, and the run ends in order.
TEST_P(Crashes, OfADiskThatIsFullAreNotTakenForEdits) {
  folder = scratch / "whole";
  ASSERT_TRUE(run(kNever));
  const std::set<std::string> always = findings();
  bool failed = true;
  for (int steps = 0; failed; steps += test::long_tests() ? 1 : 2) {
    folder = scratch / std::to_string(steps);
    failed = !run_until_a_step_fails(steps);
    if (!fs::exists(folder / results::kSummaryFile)) continue;
    EXPECT_THAT(findings(), testing::IsSubsetOf(always)) << "failure at step " << steps;
    ASSERT_TRUE(run(kNever)) << "after a failure at step " << steps;
    // The experiment file of these runs does not say that the system draws, so that rounds may be lost.
    if (!draws_by_system()) {
      EXPECT_EQ(findings(), always) << "step " << steps;
    }
  }
}

// Resumed, and stopped before the first of the lost rounds was made again.
TEST_P(Crashes, ThatAreResumedAndStoppedAreNotTakenForEdits) {
  folder = scratch / "whole";
  ASSERT_TRUE(run(kNever));
  std::set<std::string> allowed = findings();
  // The experiment file of these runs does not say that the system draws.
  if (draws_by_system()) allowed.insert("ledger.json: rounds that a crash lost");
  bool died = true;
  for (int steps = 0; died; steps += test::long_tests() ? 1 : 8) {
    folder = scratch / std::to_string(steps);
    interrupted_after = 0;
    died = !run(steps);
    interrupted_after = kBeforeAny;
    ASSERT_TRUE(run(kNever)) << "after death at step " << steps;
    EXPECT_THAT(findings(), testing::IsSubsetOf(allowed)) << "step " << steps;
    const results::Summary summary = results::RunDirectory::open(folder).summary();
    // Whose ledger may be ahead, by verify's own rules.
    // A checkpoint lists rounds of the system's noise as lost.
    const bool lists_lost = draws_by_system() && summary.rounds_done > 0;
    const bool is_ahead = !lists_lost && fs::exists(folder / results::kLedgerFile) &&
                          results::read_ledger(folder).last_round() > summary.rounds_done;
    EXPECT_TRUE(!is_ahead || summary.state == results::kRunning) << "step " << steps;
  }
}

TEST_P(Crashes, AreNotForgottenWithTheLedger) {
  const auto is_published = [&] {
    std::error_code missing;
    const std::uintmax_t bytes = fs::file_size(folder / results::kRoundsFile, missing);
    return !missing && bytes > 0;
  };
  for (int steps = 4; folder.empty() || !is_published(); steps += 4) {
    folder = scratch / std::to_string(steps);
    ASSERT_FALSE(run(steps));
  }
  fs::remove(folder / results::kLedgerFile);
  expect_to_go_on_unless(draws_by_system(), "ledger.json: is gone");
  EXPECT_NE(fs::exists(folder / results::kLedgerFile), draws_by_system());
}

// With the ledger of before a crash, what the crash lost would come for nothing.
TEST_P(Crashes, AreNotForgottenWithAnOlderLedger) {
  const fs::path begun = run_and_interrupt_after(1);
  const auto content = [&](const char* name) { return results::read_whole_file(folder / name); };
  const std::string ledger = content(results::kLedgerFile), checkpoint = content(results::kCheckpointFile);
  // What labels cost is charged in the first round.
  const bool is_charged_again = draws_by_system() && unit(GetParam()) != Unit::kLabel;
  int tried = 0;
  bool died = true;
  for (int steps = 0; died; steps += test::long_tests() ? 1 : 2) {
    folder = scratch / std::to_string(steps);
    fs::copy(begun, folder, fs::copy_options::recursive);
    died = !run(steps);
    const bool is_readable = fs::exists(folder / "checkpoint.bin.partial");
    if (!is_readable || content(results::kCheckpointFile) != checkpoint) continue;
    results::replace_file(folder / results::kLedgerFile, ledger);
    SCOPED_TRACE(steps);
    expect_to_go_on_unless(is_charged_again, "ledger.json: charges ");
    ++tried;
  }
  EXPECT_TRUE(tried > 0 || !is_charged_again);
}

// A run that goes on would seal it.
TEST_P(Crashes, DoNotHideEditsOfWhatWasPublished) {
  const fs::path begun = run_and_interrupt_after(1);
  const auto refusal_after = [&](const std::string& name, const auto& edit) {
    folder = scratch / fs::path(name).filename();
    fs::copy(begun, folder, fs::copy_options::recursive);
    edit(folder / name);
    return test::message_of([&] { run_here(); });
  };
  const auto flip = [](const fs::path& file) {
    std::string bytes = results::read_whole_file(file);
    // The last digit, so that the file can be read all the same.
    const std::size_t digit = bytes.find_last_of("0123456789");
    bytes.at(digit) = bytes[digit] == '1' ? '2' : '1';
    results::replace_file(file, bytes);
  };
  for (const std::string name : {"rounds.jsonl", "synthetic/round-0001/images.npy"}) {
    EXPECT_THAT(refusal_after(name, flip),
                testing::HasSubstr(name + ": is not as it was when the checkpoint was written"));
  }
  EXPECT_THAT(
      refusal_after(results::kEnvironmentFile,
                    [](const fs::path& file) { results::replace_file(file, R"({"commit": "another"})"); }),
      testing::HasSubstr("environment.json: is not as it was"));
  if (draws_by_system()) {
    EXPECT_THAT(refusal_after(results::kChargedFile, [](const fs::path& file) { fs::remove(file); }),
                testing::HasSubstr("charged.json: is gone"));
  }
  data_hash = std::string(64, 'b');
  EXPECT_THAT(refusal_after("summary.json", [](const fs::path& /*file*/) {}),
              testing::HasSubstr("were made from other data"));
  data_hash = std::string(64, 'a');
  folder = begun;
  results::replace_file(folder / "synthetic/round-0001/.DS_Store", "of a file manager");
  EXPECT_TRUE(run(kNever));
}

// Noise that comes again makes the same rounds; other noise would be charged a second time, unnoticed.
TEST_P(Crashes, DoNotBeginAgainWithoutTheCheckpointUnlessNoiseComesAgain) {
  const fs::path begun = run_and_interrupt_after(2), bare = scratch / "bare";
  fs::copy(begun, bare, fs::copy_options::recursive);
  fs::remove(begun / results::kCheckpointFile);
  expect_to_go_on_unless(draws_by_system(), "checkpoint.bin: is gone");
  folder = bare;
  for (const char* file : {results::kCheckpointFile, results::kLedgerFile, results::kChargedFile})
    fs::remove(folder / file);
  expect_to_go_on_unless(draws_by_system(), "ledger.json: is gone");
}

// Labels are randomised by then, and the first round charges them.
TEST_P(Crashes, LeaveNothingThatCouldBeReadBeforeTheFirstRound) {
  run_and_interrupt_after(kBeforeAny);
  EXPECT_EQ(results::RunDirectory::open(folder).summary().state, results::kInterrupted);
  EXPECT_FALSE(fs::exists(folder / results::kCheckpointFile));
  EXPECT_TRUE(run(kNever));
}

TEST_P(Crashes, DoNotGoOnFromTheCheckpointOfAnotherCell) {
  const std::string checkpoint =
      results::read_whole_file(run_and_interrupt_after(1) / results::kCheckpointFile);
  fs::remove_all(folder);
  name_of_cell = "another";
  results::replace_file(run_and_interrupt_after(1) / results::kCheckpointFile, checkpoint);
  test::expect_refused("checkpoint.bin: is of another cell", [&] { run_here(); });
}

// Its checksum says nothing of what another build wrote there.
TEST_P(Crashes, NameTheCheckpointWhoseTextsAreDamaged) {
  const fs::path file = run_and_interrupt_after(1) / results::kCheckpointFile;
  const std::string bytes = results::read_whole_file(file);
  const auto expect_refused = [&](const std::string& found, const auto& damage) {
    Checkpoint checkpoint = unpack_checkpoint(std::as_bytes(std::span(bytes)), model);
    damage(checkpoint.unpublished);
    const Bytes damaged = pack_checkpoint(checkpoint);
    results::replace_file(file, {reinterpret_cast<const char*>(damaged.data()), damaged.size()});
    EXPECT_THAT(test::message_of([&] { run_here(); }),
                testing::AllOf(testing::StartsWith(file.string() + ": " + found),
                               testing::HasSubstr("Remove the run directory to run this cell again")));
  };
  expect_refused("not valid JSON", [](std::string& text) { text.pop_back(); });
  expect_refused("field \"round\" is missing", [](std::string& text) {
    Published published = parse_published(text);
    published.unpublished = "{}\n";
    text = to_json_text(published);
  });
}

// Of a commit, and a digest of the plugin.
results::Json build_of(const char* commit, const char* digest) {
  return results::Json::parse(fmt::format(
      R"({{"commit": "{}", "plugins": [{{"name": "sgd", "sha256": "{}", "algorithms": ["sgd"]}}]}})", commit,
      digest));
}

// Two answers under one noise tell what it hides.
TEST_P(Crashes, DoNotAnswerAgainByAnotherBuildWhatIsPublished) {
  environment = build_of("one", "a");
  const fs::path begun = run_and_interrupt_after(2);
  fs::remove(begun / results::kCheckpointFile);
  environment = build_of("one", "b");
  test::expect_refused(draws_by_system() ? "checkpoint.bin: is gone"
                                         : "rounds from 1 on were published by another build of fedarena",
                       [&] { run_here(); });
  environment = build_of("one", "a");
  expect_to_go_on_unless(draws_by_system(), "checkpoint.bin: is gone");
}

class CrashesWhoseNoiseComesAgain : public Crashes {};

// Nor once the build that published rounds was resumed, and stopped before it made them all again.
TEST_P(CrashesWhoseNoiseComesAgain, DoNotForgetWhatIsPublishedOnceResumedAndStopped) {
  environment = build_of("one", "a");
  const fs::path begun = run_and_interrupt_after(2);
  fs::remove(begun / results::kCheckpointFile);
  for (const std::int64_t again : {kBeforeAny, std::int64_t{1}}) {
    environment = build_of("one", "a");
    interrupted_after = again;
    ASSERT_TRUE(run(kNever));
    environment = build_of("one", "b");
    test::expect_refused(fmt::format("rounds from {} on were published by another build", again == 1 ? 2 : 1),
                         [&] { run_here(); });
  }
  environment = build_of("one", "a");
  interrupted_after = 0;
  EXPECT_TRUE(run(kNever));
  EXPECT_EQ(results::read_ledger(folder).last_round(), kRounds);
}

TEST_P(Crashes, ListTheBuildsThatGoOn) {
  const auto with = build_of;
  const results::Json begun = environment = with("one", "a");
  run_and_interrupt_after(1);
  EXPECT_EQ(results::read_environment(folder), begun) << "the build that began is listed at the top";
  environment = with("one", "b");  // its plugin was built anew
  ASSERT_FALSE(run(3)) << "it dies when its build is listed and its checkpoint does not know of it";
  ASSERT_TRUE(run(kNever));
  results::Json both = results::read_environment(folder);
  ASSERT_EQ(both["builds"].size(), 1U);
  EXPECT_EQ(both["builds"][0]["from_round"], 2);
  EXPECT_EQ(both["builds"][0]["plugins"][0]["sha256"], "b");
  both.erase("builds");
  EXPECT_EQ(both, begun);
}

std::vector<PrivacyPolicy> crashing_policies(const char* source) {
  ClientPolicy clients = clients_hidden_adaptively();
  LocalPolicy messages = messages_hidden();
  clients.noise_source = messages.noise_source = source;
  return {records_hidden(source), clients, messages};
}

std::vector<PrivacyPolicy> crashing_policies() {
  std::vector<PrivacyPolicy> policies = crashing_policies(kStreamNoise);
  std::ranges::move(crashing_policies(kSystemNoise), std::back_inserter(policies));
  // The other half's labels are drawn between the two rounds.
  policies.emplace_back(labels_hidden(1, kSystemNoise));
  return policies;
}

INSTANTIATE_TEST_SUITE_P(Policies, Crashes, testing::ValuesIn(crashing_policies()));
INSTANTIATE_TEST_SUITE_P(Policies, CrashesWhoseNoiseComesAgain,
                         testing::ValuesIn(crashing_policies(kStreamNoise)));

}  // namespace
}  // namespace fedarena
