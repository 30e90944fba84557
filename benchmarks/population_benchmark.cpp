// What clients cost that do not take part: rounds, set-up and checkpoints of 10,000 clients against those of
// 100, with the same cohort and the same local work, and clients' memories in a file against such in memory.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/arena.hpp"
#include "benchmarks/speed.hpp"
#include "partitions/card.hpp"
#include "tests/scratch.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr std::int64_t kFew = 100, kMany = 10'000, kCohort = 100;

// As MNIST dealt to 10,000 clients.
Scenario scenario_of(const std::string& model, std::int64_t clients) {
  return {.model = model, .input_shape = {1, 28, 28}, .clients = clients, .examples = 6, .cohort = kCohort};
}

const Arena& among(std::int64_t clients) {
  static auto* const arenas = new std::map<std::int64_t, const Arena>;
  return arenas->try_emplace(clients, scenario_of("niid-cnn", clients)).first->second;
}

Settings local_work() { return {{"batch_size", std::int64_t{6}}, {"rate", 0.01}}; }

// Both run a round in each turn. `ratio`: the second one's time over the first one's, median over turns.
void take_rounds(benchmark::State& state, Simulation& first, Simulation& second) {
  const Turns turns =
      take_turns(state, timed([&] { first.next_round(); }), timed([&] { second.next_round(); }));
  state.counters["ratio"] = median(ratios(turns.second.wall, turns.first.wall));
  state.counters["first_ms"] = 1e3 * median(turns.first.wall);
  state.counters["second_ms"] = 1e3 * median(turns.second.wall);
  state.counters["first_best_ms"] = 1e3 * smallest(turns.first.wall);
  state.counters["second_best_ms"] = 1e3 * smallest(turns.second.wall);
}

// First: among 100 clients. Second: among 10,000.
void round_among_many(benchmark::State& state, const PrivacyPolicy& policy) {
  const auto algorithm = fedavg(local_work());
  Simulation first = among(kFew).simulate(*algorithm, policy);
  Simulation second = among(kMany).simulate(*algorithm, policy);
  take_rounds(state, first, second);
}

// The same with so small a model that what does not depend on it can be seen.
void small_round_among_many(benchmark::State& state, const PrivacyPolicy& policy) {
  const Arena among_few(scenario_of("logistic", kFew)), among_many(scenario_of("logistic", kMany));
  const auto algorithm = fedavg(local_work());
  Simulation first = among_few.simulate(*algorithm, policy);
  Simulation second = among_many.simulate(*algorithm, policy);
  for (int round = 0; round < 100; ++round) second.next_round();  // most clients are in the ledger
  take_rounds(state, first, second);
}

RecordPolicy on_records(double budget) {
  RecordPolicy policy;
  policy.noise_multiplier = 5;
  policy.budget = budget;
  return policy;
}

// First: clients' memories in memory. Second: in a file. All of 10,000 clients' memories would take 1.8 GB.
void memories_in_a_file(benchmark::State& state) {
  const test::Scratch folder;
  const auto algorithm = from_plugin("scaffold", local_work());
  Simulation first = among(kMany).simulate(*algorithm);
  Simulation second = among(kMany).simulate(*algorithm, NoPolicy{},
                                            {.memory = 0, .file = folder.path() / "client-states.bin"});
  take_rounds(state, first, second);
}

// Resident memory after 10 rounds and after 60 more, clients' memories in a file from the first one on.
void resident_with_file(benchmark::State& state) {
  const test::Scratch folder;
  const std::filesystem::path file = folder.path() / "client-states.bin";
  for (auto _ : state) {
    const auto algorithm = from_plugin("scaffold", local_work());
    Simulation simulation = among(kMany).simulate(*algorithm, NoPolicy{}, {.memory = 0, .file = file});
    for (int round = 0; round < 10; ++round) simulation.next_round();
    const std::int64_t settled = resident_kib();
    for (int round = 0; round < 60; ++round) simulation.next_round();
    state.counters["growth_mib"] = static_cast<double>(resident_kib() - settled) / 1024;
    state.counters["resident_mib"] = static_cast<double>(settled) / 1024;
    state.counters["file_mib"] = static_cast<double>(std::filesystem::file_size(file)) / (1024 * 1024);
  }
}

// Dealing, its card, the simulation with its ledger: what is made once a run, beside reading the data.
void set_up(benchmark::State& state) {
  const Dataset& dataset = among(kMany).dataset();
  const torch::Tensor& labels = dataset.train.targets;
  const PartitionInput input{
      .labels = {labels.data_ptr<std::int64_t>(), static_cast<std::size_t>(labels.numel())},
      .examples = dataset.train.size(),
      .classes = dataset.classes};
  const auto algorithm = fedavg(local_work());
  const Settings settings{{"clients", state.range(0)}};
  const std::vector<double> taken = time_each(state, [&] {
    const Partition partition = make_partition("iid", settings, input, 1);
    benchmark::DoNotOptimize(partition_card("iid", settings, 1, partition, input));
    const Simulation simulation = among(state.range(0)).simulate(*algorithm);
  });
  state.counters["ms"] = 1e3 * median(taken);
}

// The bytes of a checkpoint, not yet written; every client took part under the policy on records.
void checkpoint(benchmark::State& state) {
  const auto algorithm = fedavg(local_work());
  Simulation simulation = among(state.range(0)).simulate(*algorithm, on_records(0));
  for (int round = 0; round < 5; ++round) simulation.next_round();
  std::size_t size = 0;
  const std::vector<double> taken = time_each(state, [&] { size = simulation.save().size(); });
  state.counters["ms"] = 1e3 * median(taken);
  state.counters["kib"] = static_cast<double>(size) / 1024;
}

BENCHMARK_CAPTURE(round_among_many, no_policy, NoPolicy{})->Apply(timed_by_hand<40>);
BENCHMARK_CAPTURE(round_among_many, records, on_records(0))->Apply(timed_by_hand<20>);
BENCHMARK_CAPTURE(round_among_many, records_with_budget, on_records(1e6))->Apply(timed_by_hand<20>);
BENCHMARK_CAPTURE(small_round_among_many, no_policy, NoPolicy{})->Apply(timed_by_hand<40>);
BENCHMARK_CAPTURE(small_round_among_many, records, on_records(0))->Apply(timed_by_hand<40>);
BENCHMARK_CAPTURE(small_round_among_many, records_with_budget, on_records(1e6))->Apply(timed_by_hand<40>);
BENCHMARK(set_up)->Arg(kFew)->Arg(kMany)->Apply(timed_by_hand<10>);
BENCHMARK(checkpoint)->Arg(kFew)->Arg(kMany)->Apply(timed_by_hand<10>);
BENCHMARK(resident_with_file)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(memories_in_a_file)->Apply(timed_by_hand<40>);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
