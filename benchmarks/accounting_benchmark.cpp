// What an epsilon costs: Rényi divergences of one event, of a ledger whose accesses all differ, and privacy
// loss distributions. Each takes one thread.
#include <array>
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/rdp.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr double kRate = 0.0256;  // batches of 256 out of 10,000 records
constexpr std::int64_t kSteps = 3000;
constexpr double kDelta = 1e-5;

SampledGaussian sampled(double rate, double noise_multiplier) {
  return {.rate = rate, .noise_multipliers = {noise_multiplier}};
}

// An event of its own for each index: rates from 0.01 to 0.02, noise multipliers from 0.5 to 2.
Event distinct_event(std::int64_t index) {
  const auto part = static_cast<double>(index % 100) / 100;
  return sampled(0.01 + 1e-6 * static_cast<double>(index), 0.5 + 1.5 * part);
}

void report_epsilon(benchmark::State& state, double epsilon) { state.counters["epsilon"] = epsilon; }

// Steps of one kind, by an accountant that has seen nothing yet.
void rdp_epsilon(benchmark::State& state, const std::string& orders) {
  double epsilon = 0;
  for (auto _ : state) {
    RdpAccountant accountant(rdp_orders(orders));
    accountant.add(sampled(kRate, 1), kSteps);
    epsilon = accountant.epsilon(kDelta).epsilon;
  }
  report_epsilon(state, epsilon);
}
BENCHMARK_CAPTURE(rdp_epsilon, opacus_orders, "opacus")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rdp_epsilon, default_orders, "default")->Unit(benchmark::kMillisecond);

constexpr std::int64_t kDistinctEvents = 10'000;

RdpAccountant long_ledger(const std::string& orders) {
  RdpAccountant accountant(rdp_orders(orders));
  for (std::int64_t index = 0; index < kDistinctEvents; ++index) accountant.add(distinct_event(index));
  return accountant;
}

void rdp_long_ledger(benchmark::State& state, const std::string& orders) {
  double epsilon = 0;
  for (auto _ : state) epsilon = long_ledger(orders).epsilon(kDelta).epsilon;
  report_epsilon(state, epsilon);
}
BENCHMARK_CAPTURE(rdp_long_ledger, opacus_orders, "opacus")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rdp_long_ledger, default_orders, "default")->Unit(benchmark::kMillisecond);

// One event that the long ledger does not hold yet, and the new epsilon.
void rdp_one_more(benchmark::State& state, const std::string& orders) {
  RdpAccountant accountant = long_ledger(orders);
  std::int64_t index = kDistinctEvents;
  for (auto _ : state) {
    accountant.add(distinct_event(index++));
    benchmark::DoNotOptimize(accountant.epsilon(kDelta));
  }
}
BENCHMARK_CAPTURE(rdp_one_more, opacus_orders, "opacus")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rdp_one_more, default_orders, "default")->Unit(benchmark::kMillisecond);

void pld_upper(benchmark::State& state) {
  const std::array<Access, 1> accesses = {Access{sampled(kRate, 1), kSteps}};
  double epsilon = 0;
  for (auto _ : state) epsilon = pld_epsilon(accesses, kDelta, {.relative_error = 1e-3}).upper;
  report_epsilon(state, epsilon);
}
BENCHMARK(pld_upper)->Unit(benchmark::kMillisecond);

// The lower bound as well, hence the interval that holds the true epsilon.
void pld_interval(benchmark::State& state) {
  const std::array<Access, 1> accesses = {Access{sampled(kRate, 1), kSteps}};
  PldEpsilon epsilon;
  for (auto _ : state) epsilon = pld_epsilon(accesses, kDelta, {.relative_error = 1e-3, .lower_bound = true});
  report_epsilon(state, epsilon.upper);
  state.counters["lower"] = epsilon.lower.value();
}
BENCHMARK(pld_interval)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fedarena::benchmarks

BENCHMARK_MAIN();
