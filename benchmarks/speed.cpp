#include "benchmarks/speed.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <torch/types.h>

namespace fedarena::benchmarks {

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> time_each(benchmark::State& state, const std::function<void()>& body) {
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds.push_back(seconds_of(body));
    state.SetIterationTime(seconds.back());
  }
  return seconds;
}

Cost cost_of(const std::function<void()>& body) {
  const std::clock_t start = std::clock();
  const double wall = seconds_of(body);
  return {wall, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC};
}

void Costs::add(const Cost& cost) {
  wall.push_back(cost.wall);
  cpu.push_back(cost.cpu);
}

Turns take_turns(benchmark::State& state, const Side& first, const Side& second) {
  first();
  second();
  Turns turns;
  bool in_order = true;
  for (auto _ : state) {
    if (in_order) turns.first.add(first());
    turns.second.add(second());
    if (!in_order) turns.first.add(first());
    in_order = !in_order;
    state.SetIterationTime(turns.second.wall.back());
  }
  return turns;
}

std::vector<double> ratios(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> result;
  for (std::size_t i = 0; i < above.size(); ++i) result.push_back(above[i] / below[i]);
  return result;
}

int run_benchmarks(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double smallest(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double gemm_gflops() {
  constexpr std::int64_t kSize = 1024;
  constexpr int kRepetitions = 20;
  const torch::Tensor left = torch::ones({kSize, kSize});
  const torch::Tensor right = torch::ones({kSize, kSize});
  torch::Tensor product = torch::mm(left, right);
  std::vector<double> seconds;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    seconds.push_back(seconds_of([&] { torch::mm_out(product, left, right); }));
  }
  return 2e-9 * kSize * kSize * kSize / smallest(seconds);
}

std::int64_t resident_kib() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

std::int64_t peak_resident_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace fedarena::benchmarks
