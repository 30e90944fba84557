#pragma once

#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "harness/simulation/simulation.hpp"

namespace fedarena {

/// A linear model of three inputs and two classes on random examples, dealt in order to clients of these
/// sizes; the tests' algorithm has a public default constructor.
template <typename TestAlgorithm>
class SmallRuns : public ::testing::Test {
 protected:
  explicit SmallRuns(const std::vector<std::int64_t>& shard_sizes) {
    use_one_torch_thread();
    for (const std::int64_t size : shard_sizes) {
      std::vector<std::int64_t>& shard = partition.emplace_back(static_cast<std::size_t>(size));
      std::iota(shard.begin(), shard.end(), examples_);
      examples_ += size;
    }
    Stream stream({.seed = 1});
    dataset.train = {normal(stream, {examples_, 3}), torch::arange(examples_).remainder(2)};
    dataset.test = {normal(stream, {7, 3}), torch::arange(7).remainder(2)};
    dataset.classes = 2;
  }

  SimulationSetup setup_on(const WorkPool& workers, std::int64_t rounds, std::int64_t cohort_size,
                           const PrivacyPolicy& policy = NoPolicy{}) const {
    return {.dataset = dataset,
            .partition = partition,
            .model = model,
            .algorithm = algorithm,
            .pool = workers,
            .stop = stop,
            .seed = 4,
            .rounds = rounds,
            .cohort_size = cohort_size,
            .policy = policy};
  }

  Dataset dataset;
  Partition partition;
  Model model{{.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}}, torch::kFloat64};
  TestAlgorithm algorithm;
  WorkPool pool{2, use_one_torch_thread};
  std::atomic<bool> stop = false;

 private:
  std::int64_t examples_ = 0;
};

}  // namespace fedarena
