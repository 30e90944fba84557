// What `fedarena report` costs: 1,000 runs of 200 rounds, every other one under record-level privacy.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/odometer.hpp"

#include "results/record/run_directory.hpp"
#include "results/report/report.hpp"
#include "tests/scratch.hpp"

namespace fedarena::benchmarks {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRuns = 1000, kRounds = 200, kClients = 100, kCohort = 10, kAlgorithms = 5;
constexpr double kMiB = 1024.0 * 1024;

results::RoundRecord round_of(std::int64_t run, std::int64_t round) {
  const double progress = 1 - 1 / (1 + 0.05 * static_cast<double>(round + run % 7));
  const std::int64_t bytes = kCohort * (31'432 + run % 3) + (run + round) % 5;
  results::RoundRecord record{.round = round,
                              .test_loss = 2.3 * (1 - progress) + 0.001 * static_cast<double>(run % 11),
                              .test_accuracy = 0.9 * progress,
                              .clients = kCohort,
                              .examples = kCohort * (120 + (run + round) % 3),
                              .uplink_bytes = bytes,
                              .downlink_bytes = bytes,
                              .train_seconds = 0.1 + 0.001 * static_cast<double>((run + round) % 13),
                              .evaluation_seconds = 0.01,
                              .epsilon = std::nullopt};
  record.classes = results::ClassMetrics{.accuracy = {}, .macro_f1 = 0.89 * progress};
  // Every class learns at a pace of its own: series that are equal would be held once.
  for (int label = 0; label < 10; ++label) {
    record.classes->accuracy.emplace_back(0.9 * progress * (1 - 0.05 * label * (1 - progress)));
  }
  record.cost = results::Cost{.gradients = record.examples, .operations = record.examples * 31'360};
  return record;
}

// Clients take turns, so that several groups of them took part equally often.
Ledger ledger_of(std::int64_t run) {
  Ledger ledger(Unit::kRecord);
  for (std::int64_t client = 0; client < kClients; ++client) ledger.add_client(client, 120);
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    for (std::int64_t i = 0; i < kCohort; ++i) {
      RoundAccesses accesses;
      accesses.add(SampledGaussian{Sampling::kPoisson, 0.1, {1.0}, Adjacency::kAddRemove});
      ledger.record(round, (i * i * (round + run) + i) % (kClients - 10 * i) / 10 * 10 + i, accesses);
    }
  }
  return ledger;
}

void write_run(const fs::path& folder, std::int64_t run, std::int64_t seeds) {
  const std::int64_t row = run / seeds;
  results::Summary summary;
  summary.data_hash = std::string(64, 'a');
  summary.experiment = "benchmark";
  summary.label = summary.algorithm = fmt::format("algorithm-{}", row % kAlgorithms);
  summary.dataset = "glyphs";
  summary.partition = fmt::format("dirichlet (clients = {}, alpha = {})", kClients, row / kAlgorithms);
  summary.model = "logistic";
  summary.seed = run % seeds + 1;
  summary.partition_id =
      fmt::format("dirichlet(clients={},alpha={},seed={})", kClients, row / kAlgorithms, summary.seed);
  summary.partition_hash = fmt::format("{:016x}", row / kAlgorithms * 1000 + summary.seed);
  summary.sweep = {{"partition.alpha", fmt::format("{}", row / kAlgorithms)}};
  summary.rounds = summary.rounds_done = kRounds;
  summary.clients = kClients;
  summary.parameters = 7850;
  summary.state = std::string(results::kFinished);
  std::string lines;
  Ledger ledger(Unit::kNothing);
  const bool is_private = row % 2 == 0;
  if (is_private) {
    ledger = ledger_of(run);
    summary.policy = "record";
    const double epsilon = *Odometer({}).epsilon(ledger).epsilon;
    summary.privacy = results::PrivacyClaim{.unit = "record",
                                            .adjacency = "add-remove",
                                            .settings = {},
                                            .rdp = Claim{.epsilon = epsilon},
                                            .order = 3,
                                            .pld = Claim{.epsilon = 0.9 * epsilon}};
  } else {
    for (std::int64_t client = 0; client < kClients; ++client) ledger.add_client(client, 120);
  }
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    results::RoundRecord record = round_of(run, round);
    if (is_private) record.epsilon = *summary.privacy->rdp->epsilon * static_cast<double>(round) / kRounds;
    lines += results::to_json_line(record) + "\n";
    summary.final_test_accuracy = record.test_accuracy;
    summary.final_test_loss = record.test_loss;
    summary.seconds += record.train_seconds + record.evaluation_seconds;
  }
  const fs::path path = folder / fmt::format("{}-seed-{}", row, summary.seed);
  results::RunDirectory::create(
      path,
      fmt::format("[experiment]\nname = \"benchmark\"\nseeds = [{}]\n{}", summary.seed,
                  std::string(1200, '#')),
      fmt::format("{{\"blas_gflops_one_thread\": {}, \"cores\": 2}}", 100 + run % 17), summary);
  // Not round by round: every append would wait for the disk.
  std::ofstream(path / results::kRoundsFile) << lines;
  std::ofstream(path / results::kLedgerFile) << ledger.to_json();
}

// The argument is the number of seeds of a row.
void report(benchmark::State& state) {
  const test::Scratch folder;
  for (std::int64_t run = 0; run < kRuns; ++run) write_run(folder.path(), run, state.range(0));
  results::Report report;
  for (auto _ : state) report = results::make_report(results::find_runs(std::vector{folder.path()}));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  state.counters["runs"] = static_cast<double>(report.runs);
  state.counters["rows"] = static_cast<double>(report.rows);
  state.counters["problems"] = static_cast<double>(report.problems.size());
  state.counters["page_mib"] = static_cast<double>(report.html.size()) / kMiB;
  state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(report)->Arg(5)->Arg(1)->ArgName("seeds")->Unit(benchmark::kSecond);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
