#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/odometer.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/record/run_directory.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {

/// The accesses of one local training: `steps` batches through the mechanism.
inline RoundAccesses private_steps(std::int64_t steps, double noise_multiplier = 1.0) {
  RoundAccesses accesses;
  for (std::int64_t i = 0; i < steps; ++i) {
    accesses.add(SampledGaussian{Sampling::kPoisson, 0.0256, {noise_multiplier}, Adjacency::kZeroOut});
  }
  return accesses;
}

/// What differs, with the names of files alone.
inline std::vector<std::string> difference_lines(Verification found) {
  std::vector<std::string> lines;
  for (Difference& difference : found.differences) {
    difference.file = difference.file.filename();
    lines.push_back(describe(difference));
  }
  return lines;
}

/// A run directory as the program leaves one: four rounds of three clients, of whom client 2 sits out
/// round 2. The records agree with each other; tests spoil one of them.
class RecordedRun {
 public:
  struct Plan {
    std::string policy = "record";
    std::string label = "dp-fedavg";
    std::int64_t seed = 1;
    bool finished = true;
    /// What happens to a client's data in a round.
    std::function<RoundAccesses(std::int64_t round, std::int64_t client)> accesses =
        [](std::int64_t, std::int64_t) { return private_steps(10); };
    double accuracy = 0.75;  ///< of every round
    std::string noise_source = "stream";
    /// A round of which a crash lost an attempt after it was answered, to client 2 alone; 0: none. After the
    /// last one: for the next attempt no budget paid.
    std::int64_t lost_round = 0;
  };

  RecordedRun(const std::filesystem::path& path, const Plan& plan) : path_(path) {
    const Unit unit = plan.policy == "none"     ? Unit::kNothing
                      : plan.policy == "record" ? Unit::kRecord
                                                : Unit::kClient;
    Summary summary = finished(plan.label, plan.seed, 0.75);
    summary.rounds = kRounds;
    summary.rounds_done = 0;
    summary.clients = 3;
    summary.uplink_bytes = summary.downlink_bytes = 0;
    summary.uplink_bytes_per_client_round = summary.downlink_bytes_per_client_round = 0;
    summary.seconds = 0;
    summary.state = std::string(kRunning);
    summary.final_test_accuracy = summary.final_test_loss = std::nullopt;
    summary.algorithm_parameters = {{"rate", "0.1"}};
    if (plan.noise_source != "stream")
      summary.policy_settings = {{"noise_source", fmt::format("\"{}\"", plan.noise_source)}};
    plan_privacy(summary, plan.policy, {.delta = 1e-5, .orders = "opacus"}, 0);
    RecordedPartition card = three_clients();
    card.kind = "iid";
    card.seed = plan.seed;
    card.id = fmt::format("iid(seed={})", plan.seed);
    summary.partition_id = card.id;
    summary.partition_hash = card.index_hash;
    RunDirectory run = RunDirectory::create(
        path, toml(summary, plan.noise_source),
        R"({"plugins": [{"name": "fedavg", "algorithms": ["fedavg", "dp-fedavg"]}, {"name": "scaffold"}]})",
        summary, to_json_text(card));

    Ledger ledger(unit);
    for (std::int64_t client = 0; client < 3; ++client) ledger.add_client(client, 1000 + client);
    const Odometer odometer({.delta = 1e-5, .orders = "opacus"});
    std::int64_t client_rounds = 0;
    const std::int64_t rounds = plan.finished ? kRounds : kRounds - 1;
    for (std::int64_t round = 1; round <= rounds; ++round) {
      RoundRecord record = round_record(round);
      record.clients = 0;
      if (plan.lost_round == round) lose(ledger, round, plan);
      record.test_accuracy = plan.accuracy;
      record.classes = ClassMetrics{.accuracy = {plan.accuracy, plan.accuracy}, .macro_f1 = plan.accuracy};
      for (std::int64_t client = 0; client < 3; ++client) {
        if (round == 2 && client == 2) continue;
        ledger.record(round, client, plan.accesses(round, client));
        ++record.clients;
      }
      record.uplink_bytes = 4096 * record.clients;
      record.downlink_bytes = 8192 * record.clients;
      if (unit == Unit::kClient) ledger.record_population(round, plan.accesses(round, -1));
      if (unit != Unit::kNothing) record.epsilon = odometer.epsilon(ledger).epsilon;
      run.append(record);
      client_rounds += record.clients;
      summary.uplink_bytes += record.uplink_bytes;
      summary.downlink_bytes += record.downlink_bytes;
      summary.seconds += record.train_seconds + record.evaluation_seconds;
      summary.examples += record.examples;
    }
    if (plan.lost_round > rounds) lose(ledger, plan.lost_round, plan);
    run.write_file_atomically(kLedgerFile, ledger.to_json());
    summary.rounds_done = rounds;
    if (plan.finished) {
      summary.uplink_bytes_per_client_round =
          static_cast<double>(summary.uplink_bytes) / static_cast<double>(client_rounds);
      summary.downlink_bytes_per_client_round =
          static_cast<double>(summary.downlink_bytes) / static_cast<double>(client_rounds);
      summary.final_test_accuracy = plan.accuracy;
      summary.final_test_loss = 0.25;
      summary.cost = total_cost(run.rounds());
      summary.state = std::string(kFinished);
      compute_claim(summary, ledger);
    } else {
      summary.uplink_bytes = summary.downlink_bytes = summary.examples = 0;
      summary.seconds = 0;
      summary.state = std::string(kInterrupted);
    }
    run.write_summary(summary);
  }

  const std::filesystem::path& path() const { return path_; }
  RunDirectory open() const { return RunDirectory::open(path_); }
  /// What `verify` finds.
  std::vector<std::string> differences() const { return difference_lines(verify_run(path_)); }
  /// Replaces one occurrence of a text in a file of the run; a failure of the test when there is none.
  void edit(const std::string& file, const std::string& before, const std::string& after) const {
    put(path_ / file, replaced(open().read_file(file), before, after));
  }
  /// Has its rounds say something else, each as `change` makes it.
  void change_rounds(const std::function<void(RoundRecord&)>& change) const {
    RunDirectory directory = open();
    std::vector<RoundRecord> rounds = directory.rounds();
    directory.truncate_rounds(0);
    for (RoundRecord& round : rounds) {
      change(round);
      directory.append(round);
    }
  }
  /// The same of its summary.
  void change_summary(const std::function<void(Summary&)>& change) const {
    const RunDirectory directory = open();
    Summary summary = directory.summary();
    change(summary);
    directory.write_summary(summary);
  }
  /// Has its clients tested after each round, as `test` writes it.
  void test_clients(const std::function<void(RoundRecord&)>& test) const {
    edit(kExperimentFile, "every = 1\n", "every = 1\nper_client = true\n");
    change_rounds(test);
  }

 private:
  static constexpr std::int64_t kRounds = 4;

  static void lose(Ledger& ledger, std::int64_t round, const Plan& plan) {
    Ledger written = ledger;
    written.record(round, 2, plan.accesses(round, 2));
    if (ledger.unit() == Unit::kClient) written.record_population(round, plan.accesses(round, -1));
    ledger.add_lost(written, round);
  }

  static std::string toml(const Summary& summary, const std::string& noise_source) {
    return fmt::format(
        "[experiment]\nname = \"{}\"\nseeds = [{}]\nrounds = {}\n\n[data]\nname = "
        "\"{}\"\n\n[partition]\nkind = \"iid\"\n\n[model]\nname = \"{}\"\n\n"
        "[evaluation]\nevery = 1\n\n"
        "[privacy]\npolicy = \"none\"\n\n[[algorithms]]\nname = \"{}\"\nlabel = \"{}\"\nrate = 0.1\n\n"
        "[algorithms.privacy]\npolicy = \"{}\"\ndelta = 1e-05\norders = \"opacus\"\nconversion = \"balle\"\n"
        "assume = \"nothing\"\nbudget = 0.0\n{}",
        summary.experiment, summary.seed, summary.rounds, summary.dataset, summary.model, summary.algorithm,
        summary.label, summary.policy,
        noise_source == "stream" ? "" : "noise_source = \"" + noise_source + "\"\n");
  }

  std::filesystem::path path_;
};

}  // namespace fedarena::results
