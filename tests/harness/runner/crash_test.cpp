// Runs that die between any two steps on the way to the disk. Noise of the system's generator is never the
// same twice, so whatever could have been read of a round must be charged, each time that it was answered.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "harness/oracle/random_source.hpp"
#include "harness/runner/record/cell_record.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/audit/verify.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/run_directory.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/scratch.hpp"

namespace {

// The steps that this process may still make before it dies; negative: it never does.
int steps_left = -1;
// Whether each change of a file is a step, also one that nothing brings to disk at once.
bool steps_are_small = false;

void make_step() {
  if (steps_left >= 0 && steps_left-- == 0) ::_exit(9);
}

}  // namespace

// In place of the C library's: each begins with a step.
extern "C" int rename(const char* from, const char* to) noexcept {
  make_step();
  static const auto original =
      reinterpret_cast<int (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "rename"));
  return original(from, to);
}

extern "C" int unlink(const char* file) noexcept {
  if (steps_are_small) make_step();
  static const auto original = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "unlink"));
  return original(file);
}

extern "C" int ftruncate(int file, off_t size) noexcept {
  if (steps_are_small) make_step();
  static const auto original = reinterpret_cast<int (*)(int, off_t)>(dlsym(RTLD_NEXT, "ftruncate"));
  return original(file, size);
}

// What a process wrote outlives it without the disk's help.
extern "C" int fsync(int /*file*/) {
  make_step();
  return 0;
}

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRounds = 2;
constexpr int kNever = -1;

// What a client remembers of its last round: a mark, by which it is found in any file; who it is; the round;
// the bits of a number that noise has touched.
constexpr Key<torch::Tensor> kRemembered{"memory"};
using Remembered = std::array<std::int64_t, 4>;
constexpr std::int64_t kMark = 0x7365'6972'6f6d'656d;

class Crashes : public SmallRuns<ScriptedSgd>, public testing::WithParamInterface<PrivacyPolicy> {
 protected:
  Crashes() : SmallRuns({12, 6}) {
    algorithm.on_aggregate = [](Server& server, const Uplink& uplink) {
      server.params += uplink.mean(kUpdate);
      server.synthetic = {server.params.flat().narrow(0, 0, 3).reshape({1, 3}).clone(),
                          torch::zeros({1}, torch::kInt64)};
    };
    algorithm.on_send = [](Client& client, Message& uplink) {
      const auto bits = std::bit_cast<std::int64_t>(uplink[kUpdate].flat().sum().item<double>());
      client.state.put(
          kRemembered,
          torch::tensor(std::vector<std::int64_t>{kMark, client.id, client.round, bits}, torch::kInt64));
    };
  }

  // Where clients are the unit, one of the two is expected in a round: an attempt that is made again may have
  // the other one, or none.
  SimulationSetup crashing() const {
    SimulationSetup setup = setup_on(alone, planned, unit(GetParam()) == Unit::kClient ? 1 : 2, GetParam());
    if (ends_early()) setup.evaluate_every = planned;
    setup.states = {.memory = 0, .file = folder / results::kClientStatesFile};
    return setup;
  }

  bool ends_early() const { return planned > kRounds; }

  // Runs, or goes on, in a process of its own, which dies after so many steps. False when it died.
  bool run(int steps) const {
    const pid_t child = ::fork();
    if (child == 0) {
      steps_left = steps;
      try {
        run_here();
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9)) << status;
    return status == 0;
  }

  void run_here() const {
    results::Summary plan;
    plan.experiment = "crashes";
    plan.label = plan.algorithm = "sgd";
    plan.dataset = plan.model = plan.partition = "small";
    plan.seed = 4;
    plan.data_hash = data_hash;
    plan.rounds = planned;
    plan.clients = 2;
    plan.parameters = model.layout()->numel();
    results::plan_privacy(plan, std::string(name(unit(GetParam()))), *accounting(GetParam()), 0);
    Experiment experiment;
    if (ends_early()) experiment.evaluation.every = planned;
    CellRecord record(folder, experiment, environment, plan, true);
    if (record.finished()) return;
    Simulation simulation(crashing());
    record.restore(simulation);
    while (simulation.rounds_done() < kRounds) {
      record.append(simulation.next_round(), simulation);
      if (simulation.rounds_done() == interrupted_after) return record.interrupt(simulation);
    }
    steps_left = std::max(steps_left, steps_at_the_end);
    steps_are_small = steps_at_the_end != kNever;
    if (ends_early()) simulation.charge_rest();
    record.finish(simulation, ends_early() ? std::string(results::kStoppedByPatience) : std::string());
  }

  // The same up to the end, with small steps from there on.
  bool run_and_die_at_the_end(int steps) {
    steps_at_the_end = steps;
    const bool lived = run(kNever);
    steps_at_the_end = kNever;
    return lived;
  }

  // What verify says of the run, as "FILE: FIELD".
  std::set<std::string> findings() const {
    std::set<std::string> found;
    const auto add = [&](const results::Verification& verification) {
      for (const results::Difference& difference : verification.differences)
        found.insert(difference.file.filename().string() + ": " + difference.field);
    };
    add(results::verify_seal(results::find_runs(std::vector<fs::path>{folder}).front()));
    add(results::verify_run(folder));
    return found;
  }

  // Losses tell answers apart.
  void see(std::int64_t round, double loss) { seen[round].insert(loss); }

  // The last round of which the file of client states holds something.
  std::int64_t look_at_states() {
    const fs::path file = folder / results::kClientStatesFile;
    std::int64_t last = 0;
    if (!fs::exists(file)) return last;
    const std::string bytes = results::read_whole_file(file);
    for (std::size_t at = 0; at + sizeof(Remembered) <= bytes.size(); ++at) {
      Remembered found;
      std::memcpy(found.data(), bytes.data() + at, sizeof(Remembered));
      const auto [mark, client, round, bits] = found;
      if (mark != kMark) continue;
      if (client == 0) remembered[round].insert(bits);
      last = std::max(last, round);
    }
    EXPECT_TRUE(bytes.empty() || last > 0) << "states that nobody finds";
    return last;
  }

  void look() {
    if (!fs::exists(folder / results::kSummaryFile)) return;
    std::int64_t last = look_at_states();
    for (const results::RoundRecord& record : results::RunDirectory::open(folder).rounds()) {
      see(record.round, *record.test_loss);
      published[record.round].insert(*record.test_loss);
      last = std::max(last, record.round);
    }
    for (const std::int64_t round : results::SyntheticFolder(folder).rounds()) last = std::max(last, round);
    // A finished run has no states for its checkpoint any longer; its rounds tell the same.
    const bool finished = results::RunDirectory::open(folder).summary().state == results::kFinished;
    for (const char* name : {"checkpoint.bin", "checkpoint.bin.partial"}) {
      if (finished || !fs::exists(folder / name)) continue;
      const std::string bytes = results::read_whole_file(folder / name);
      Simulation simulation(crashing());
      results::RoundRecord record;
      simulation.restore(std::as_bytes(std::span(bytes)));
      simulation.evaluate(record);
      see(simulation.rounds_done(), *record.test_loss);
      last = std::max(last, simulation.rounds_done());
    }
    if (last == 0) return;
    EXPECT_GE(attempts_charged(last), 1) << "round " << last << " can be read and is not charged";
  }

  // How often the ledger on disk charges client 0, or all clients, for a round.
  std::int64_t attempts_charged(std::int64_t round) const {
    const Ledger ledger = results::read_ledger(folder);
    const bool records = ledger.unit() == Unit::kRecord, each = records || ledger.unit() == Unit::kLocal;
    if (ledger.unit() == Unit::kLabel) round = 1;  // in which labels are released, for all rounds
    const std::int64_t in_an_attempt = records ? algorithm.steps : 1;
    std::int64_t count = 0;
    for (const Ledger::Segment& segment :
         each ? ledger.clients().at(0).segments.list() : ledger.population()) {
      if (round < segment.first_round || round > segment.last_round) continue;
      for (const Access& access : segment.accesses) count += access.count;
    }
    EXPECT_EQ(count % in_an_attempt, 0);
    return count / in_an_attempt;
  }

  const WorkPool alone{1, use_one_torch_thread};
  const test::Scratch scratch;
  fs::path folder;
  std::int64_t planned = kRounds;
  std::int64_t interrupted_after = 0;  // this round; 0: never
  std::string environment = "{}", data_hash;
  int steps_at_the_end = kNever;
  std::map<std::int64_t, std::set<double>> seen, published;
  std::map<std::int64_t, std::set<std::int64_t>> remembered;  // by client 0
};

TEST_P(Crashes, ChargeForWhateverCouldBeRead) {
  const bool system = accounting(GetParam())->noise_source == kSystemNoise;
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
      if (!system) {
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
  EXPECT_EQ(lost > 0, system) << "of what was begun and lost, noise that comes again is not charged twice";
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
    if (unit(GetParam()) == Unit::kClient && accounting(GetParam())->noise_source == kSystemNoise) continue;
    EXPECT_EQ(results::read_whole_file(folder / results::kLedgerFile), ledger) << "step " << steps;
  }
  EXPECT_GT(sealed, 0);
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
  if (accounting(GetParam())->noise_source == kSystemNoise) {
    EXPECT_THAT(test::message_of([&] { run_here(); }), testing::HasSubstr("ledger.json: is gone"));
    EXPECT_FALSE(fs::exists(folder / results::kLedgerFile));
  } else {
    EXPECT_TRUE(run(kNever)) << "noise that comes again is charged once, whatever was lost";
  }
}

// With the ledger of before a crash, what the crash lost would come for nothing.
TEST_P(Crashes, AreNotForgottenWithAnOlderLedger) {
  interrupted_after = 1;
  const fs::path begun = folder = scratch / "begun";
  ASSERT_TRUE(run(kNever));
  interrupted_after = 0;
  const auto content = [&](const char* name) { return results::read_whole_file(folder / name); };
  const std::string ledger = content(results::kLedgerFile), checkpoint = content(results::kCheckpointFile);
  // What labels cost is charged in the first round.
  const bool is_charged_again =
      accounting(GetParam())->noise_source == kSystemNoise && unit(GetParam()) != Unit::kLabel;
  int refused = 0;
  bool died = true;
  for (int steps = 0; died; steps += test::long_tests() ? 1 : 2) {
    folder = scratch / std::to_string(steps);
    fs::copy(begun, folder, fs::copy_options::recursive);
    died = !run(steps);
    const bool is_readable = fs::exists(folder / "checkpoint.bin.partial");
    if (!is_readable || content(results::kCheckpointFile) != checkpoint) continue;
    results::replace_file(folder / results::kLedgerFile, ledger);
    if (is_charged_again) {
      EXPECT_THAT(test::message_of([&] { run_here(); }), testing::HasSubstr("ledger.json: charges "))
          << "step " << steps;
      ++refused;
    } else {
      EXPECT_TRUE(run(kNever)) << "noise that comes again is charged once, whatever was lost";
    }
  }
  EXPECT_EQ(refused > 0, is_charged_again);
}

// A run that goes on would seal it.
TEST_P(Crashes, DoNotHideEditsOfWhatWasPublished) {
  interrupted_after = 1;
  const fs::path begun = folder = scratch / "begun";
  ASSERT_TRUE(run(kNever));
  interrupted_after = 0;
  const bool system = accounting(GetParam())->noise_source == kSystemNoise;
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
  if (system) {
    EXPECT_THAT(refusal_after(results::kChargedFile, [](const fs::path& file) { fs::remove(file); }),
                testing::HasSubstr("charged.json: is gone"));
  }
  data_hash = std::string(64, 'b');
  EXPECT_THAT(refusal_after("summary.json", [](const fs::path& /*file*/) {}),
              testing::HasSubstr("were made from other data"));
  data_hash.clear();
  folder = begun;
  results::replace_file(folder / "synthetic/round-0001/.DS_Store", "of a file manager");
  EXPECT_TRUE(run(kNever));
}

// Noise that comes again makes the same rounds; other noise would be charged a second time, unnoticed.
TEST_P(Crashes, DoNotBeginAgainWithoutTheCheckpointUnlessNoiseComesAgain) {
  folder = scratch / "run";
  interrupted_after = 2;
  ASSERT_TRUE(run(kNever));
  interrupted_after = 0;
  fs::remove(folder / results::kCheckpointFile);
  if (accounting(GetParam())->noise_source == kSystemNoise) {
    EXPECT_THAT(test::message_of([&] { run_here(); }), testing::HasSubstr("checkpoint.bin: is gone"));
  } else {
    EXPECT_TRUE(run(kNever));
  }
}

TEST_P(Crashes, ListTheBuildsThatGoOn) {
  const auto with = [](const char* commit, const char* digest) {
    return fmt::format(
        R"({{"commit": "{}", "plugins": [{{"name": "sgd", "sha256": "{}", "algorithms": ["sgd"]}}]}})",
        commit, digest);
  };
  folder = scratch / "run";
  interrupted_after = 1;
  const std::string begun = environment = with("one", "a");
  ASSERT_TRUE(run(kNever));
  const auto recorded = [&] {
    return nlohmann::json::parse(results::read_whole_file(folder / results::kEnvironmentFile));
  };
  EXPECT_EQ(recorded(), nlohmann::json::parse(begun)) << "the build that began is listed at the top";
  environment = with("one", "b");  // its plugin was built anew
  interrupted_after = 0;
  ASSERT_FALSE(run(3)) << "it dies when its build is listed and its checkpoint does not know of it";
  ASSERT_TRUE(run(kNever));
  nlohmann::json both = recorded();
  ASSERT_EQ(both["builds"].size(), 1U);
  EXPECT_EQ(both["builds"][0]["from_round"], 2);
  EXPECT_EQ(both["builds"][0]["plugins"][0]["sha256"], "b");
  both.erase("builds");
  EXPECT_EQ(both, nlohmann::json::parse(begun));
}

std::vector<PrivacyPolicy> crashing_policies() {
  std::vector<PrivacyPolicy> policies;
  for (const char* source : {kStreamNoise, kSystemNoise}) {
    ClientPolicy clients = clients_hidden_adaptively();
    LocalPolicy messages = messages_hidden();
    clients.noise_source = messages.noise_source = source;
    policies.insert(policies.end(), {records_hidden(source), clients, messages});
  }
  // The other half's labels are drawn between the two rounds.
  policies.emplace_back(labels_hidden(1, kSystemNoise));
  return policies;
}

INSTANTIATE_TEST_SUITE_P(Policies, Crashes, testing::ValuesIn(crashing_policies()));

}  // namespace
}  // namespace fedarena
