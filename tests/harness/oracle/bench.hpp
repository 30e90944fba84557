#pragma once

#include <atomic>
#include <vector>

#include "harness/oracle/exact_oracle.hpp"
#include "harness/oracle/record_oracle.hpp"

namespace fedarena {

/// Everything that a client's oracle needs: 40 examples with 3 features, the first of which is the example's
/// number.
struct Bench {
  explicit Bench(int workers = 2) : pool(workers, use_one_torch_thread) {
    use_one_torch_thread();
    Stream stream({.seed = 3});
    dataset.train.inputs = normal(stream, {40, 3});
    dataset.train.inputs.select(1, 0).copy_(torch::arange(40));
    dataset.train.targets = torch::arange(40).remainder(4);
    dataset.classes = 4;
  }

  ExactOracle exact(const std::vector<std::int64_t>& shard, const Streams& streams = Streams(1, 1, 0)) const {
    return {setting(), torch::tensor(shard, torch::kInt64), streams};
  }
  RecordOracle record(const std::vector<std::int64_t>& shard, const RecordPolicy& policy,
                      const Streams& streams = Streams(1, 1, 0)) const {
    return {setting(), torch::tensor(shard, torch::kInt64), streams, policy};
  }
  MeteredOracle::Setting setting() const {
    return {dataset.train, reader, model, engine, stop, dataset.classes};
  }
  Params at() const {
    Stream stream({.seed = 4});
    return model.initial(stream);
  }

  Dataset dataset;
  Model model{{.input_shape = {3}, .outputs = 4, .layers = {Linear{3, 4}}}, torch::kFloat64};
  WorkPool pool;
  GradientEngine engine{model, pool};
  ExampleReader reader{dataset, torch::kFloat64};
  std::atomic<bool> stop = false;
};

/// `count` numbers from `first`.
inline std::vector<std::int64_t> range(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

/// Far longer than any gradient here.
inline constexpr double kNoClipping = 1e12;

/// A policy on records whose gradients are clipped to `clip_norm` and noised by `noise_multiplier`.
inline RecordPolicy record_policy(double clip_norm, double noise_multiplier,
                                  const std::string& sampling = kPoisson) {
  RecordPolicy policy;
  policy.clip_norm = clip_norm;
  policy.noise_multiplier = noise_multiplier;
  policy.sampling = sampling;
  return policy;
}

/// A regression in which example i alone has feature i: the weights' part of an exact sum of gradients tells
/// which examples are in it.
struct Beacons {
  explicit Beacons(std::int64_t examples, int workers = 1)
      : model({.input_shape = {examples},
               .outputs = 1,
               .layers = {Linear{examples, 1}},
               .loss = Loss::kSquaredError},
              torch::kFloat64),
        pool(workers, use_one_torch_thread) {
    use_one_torch_thread();
    dataset.train = {torch::eye(examples, torch::kFloat64), torch::ones({examples, 1}, torch::kFloat64)};
  }

  RecordOracle record(const RecordPolicy& policy, const Streams& streams) const {
    return {{dataset.train, reader, model, engine, stop, 0},
            torch::arange(dataset.train.size(), torch::kInt64),
            streams,
            policy};
  }
  /// Examples whose gradient at zero is part of that sum, ascending.
  std::vector<std::int64_t> lit(const Params& sum) const {
    std::vector<std::int64_t> examples;
    for (std::int64_t i = 0; i < dataset.train.size(); ++i) {
      if (sum.flat()[i].item<double>() != 0) examples.push_back(i);
    }
    return examples;
  }
  Params zero() const { return Params::zeros(model.layout(), torch::kFloat64); }

  Dataset dataset;
  Model model;
  WorkPool pool;
  GradientEngine engine{model, pool};
  ExampleReader reader{dataset, torch::kFloat64};
  std::atomic<bool> stop = false;
};

}  // namespace fedarena
