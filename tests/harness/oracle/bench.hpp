#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/exact_oracle.hpp"
#include "harness/oracle/private_uplink.hpp"
#include "harness/oracle/record_oracle.hpp"
#include "tests/harness/sdk/numbers_of.hpp"

namespace fedarena {

/// `count` numbers from `first`.
inline std::vector<std::int64_t> range(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

/// Everything that a client's oracle needs, over 40 examples with 3 features, the first of which is the
/// example's number, or over others.
struct Bench {
  Bench(Examples train, std::int64_t classes, Architecture architecture, int workers)
      : model(std::move(architecture), torch::kFloat64), pool(workers, use_one_torch_thread) {
    use_one_torch_thread();
    dataset.train = std::move(train);
    dataset.classes = classes;
  }
  explicit Bench(int workers = 2)
      : Bench(numbered(), 4, {.input_shape = {3}, .outputs = 4, .layers = {Linear{3, 4}}}, workers) {}

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
  Model model;
  WorkPool pool;
  GradientEngine engine{model, pool};
  ExampleReader reader{dataset, torch::kFloat64};
  std::atomic<bool> stop = false;

 private:
  static Examples numbered() {
    Stream stream({.seed = 3});
    Examples examples{normal(stream, {40, 3}), torch::arange(40).remainder(4)};
    examples.inputs.select(1, 0).copy_(torch::arange(40));
    return examples;
  }
};

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

/// An oracle over those examples of the bench, whose answers are noised.
inline RecordOracle with_noise(const Bench& bench, double noise_multiplier,
                               const std::vector<std::int64_t>& shard = range(0, 40),
                               std::int64_t round = 1) {
  return bench.record(shard, record_policy(1, noise_multiplier), Streams(1, round, 0));
}

/// A vote: each voter's examples summed, three numbers.
inline torch::Tensor sums(const Voters& voters) { return voters.examples.inputs.sum(1).unsqueeze(1); }

/// A regression in which example i alone has feature i: the weights' part of an exact sum of gradients tells
/// which examples are in it.
struct Beacons : Bench {
  explicit Beacons(std::int64_t examples, int workers = 1)
      : Bench({torch::eye(examples, torch::kFloat64), torch::ones({examples, 1}, torch::kFloat64)}, 0,
              {.input_shape = {examples},
               .outputs = 1,
               .layers = {Linear{examples, 1}},
               .loss = Loss::kSquaredError},
              workers) {}

  RecordOracle record(const RecordPolicy& policy, const Streams& streams) const {
    return Bench::record(range(0, dataset.train.size()), policy, streams);
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
};

inline bool same_bits(const Params& left, const Params& right) {
  return torch::equal(left.flat(), right.flat());
}

inline constexpr Key<Params> kFirst{"first"};
inline constexpr Key<Params> kSecond{"second"};
inline constexpr Key<std::int64_t> kWeight{"weight"};

inline Message two_vectors(const std::vector<double>& first, const std::vector<double>& second) {
  return {{kFirst, vector_of(first)}, {kSecond, vector_of(second)}, {kWeight, std::int64_t{7}}};
}

inline ClientPolicy client_policy(double clip_norm, double noise_multiplier) {
  ClientPolicy policy;
  policy.clip_norm = clip_norm;
  policy.noise_multiplier = noise_multiplier;
  return policy;
}

/// A cohort under a policy: 4 clients expected of 40, vectors of `dimension` numbers.
struct Server40 {
  ClientPolicy policy;
  std::int64_t dimension = 2;
  Streams streams = Streams(1, 1, kServer);
  std::int64_t expected_cohort = 4;
  std::optional<std::vector<UplinkEntry>> declared = {};

  PrivateUplink receive(std::vector<Message> messages) const {
    return {{.policy = policy,
             .declared = declared,
             .clip_norm = policy.clip_norm,
             .expected_cohort = expected_cohort,
             .population = 10 * expected_cohort,
             .streams = streams,
             .zeros = vector_of(std::vector<double>(static_cast<std::size_t>(dimension)))},
            std::move(messages)};
  }
};

}  // namespace fedarena
