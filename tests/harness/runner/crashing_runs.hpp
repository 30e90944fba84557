#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "harness/oracle/random_source.hpp"
#include "harness/runner/record/cell_record.hpp"
#include "results/audit/audited_run.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/run_directory.hpp"
#include "tests/harness/runner/steps_to_disk.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/scratch.hpp"

namespace fedarena {

namespace fs = std::filesystem;

inline constexpr std::int64_t kRounds = 2;
inline constexpr int kNever = -1;
inline constexpr std::int64_t kBeforeAny = -1;

// What a client remembers of its last round: a mark, by which it is found in any file; who it is; the round;
// the bits of a number that noise has touched.
inline constexpr Key<torch::Tensor> kRemembered{"memory"};
using Remembered = std::array<std::int64_t, 4>;
inline constexpr std::int64_t kMark = 0x7365'6972'6f6d'656d;

/// Runs of two clients that die between two steps, and what can be read of each attempt at a round.
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
    plan.partition_id = "small(seed=4)";
    plan.partition_hash = "0123456789abcdef";
    plan.seed = 4;
    plan.data_hash = data_hash;
    plan.rounds = planned;
    plan.clients = 2;
    plan.parameters = model.layout()->numel();
    results::plan_privacy(plan, std::string(name(unit(GetParam()))), accounting(GetParam()), 0);
    Experiment experiment;
    experiment.name = name_of_cell;
    if (ends_early()) experiment.evaluation.every = planned;
    CellRecord record(folder, experiment, environment, plan, true);
    if (record.finished()) return;
    Simulation simulation(crashing());
    record.restore(simulation);
    if (interrupted_after == kBeforeAny) return record.interrupt(simulation);
    try {
      while (simulation.rounds_done() < kRounds) {
        record.append(simulation.next_round(), simulation);
        if (simulation.rounds_done() == interrupted_after) return record.interrupt(simulation);
      }
      steps_left = std::max(steps_left, steps_at_the_end);
      steps_are_small = steps_at_the_end != kNever;
      if (ends_early()) simulation.charge_rest();
      record.finish(simulation, ends_early() ? std::string(results::kStoppedByPatience) : std::string());
    } catch (const Error&) {  // as a run of a cell does
      record.leave();
      throw;
    }
  }

  // The same up to the end, with small steps from there on.
  bool run_and_die_at_the_end(int steps) {
    steps_at_the_end = steps;
    const bool lived = run(kNever);
    steps_at_the_end = kNever;
    return lived;
  }

  // Runs, or goes on, until a step fails after so many; false where one did.
  bool run_until_a_step_fails(int steps) const {
    steps_left = steps;
    last_step_fails = true;
    bool lived = true;
    try {
      run_here();
    } catch (const Error&) {
      lived = false;
    }
    steps_left = kNever;
    last_step_fails = false;
    return lived;
  }

  // Begins a run that is interrupted after this round, or kBeforeAny; its folder.
  fs::path run_and_interrupt_after(std::int64_t round) {
    folder = scratch / "begun";
    interrupted_after = round;
    EXPECT_TRUE(run(kNever));
    interrupted_after = 0;
    return folder;
  }

  // Noise that comes again is charged once, whatever was lost; other noise must be charged for each time.
  void expect_to_go_on_unless(bool refused, const std::string& why) const {
    if (refused) {
      test::expect_refused(why, [&] { run_here(); });
    } else {
      EXPECT_TRUE(run(kNever));
    }
  }

  static bool draws_by_system() { return accounting(GetParam()).noise_source == kSystemNoise; }

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
  std::string name_of_cell = "crashes";
  results::Json environment = results::Json::object();
  std::string data_hash = std::string(64, 'a');
  int steps_at_the_end = kNever;
  std::map<std::int64_t, std::set<double>> seen, published;
  std::map<std::int64_t, std::set<std::int64_t>> remembered;  // by client 0
};

}  // namespace fedarena
