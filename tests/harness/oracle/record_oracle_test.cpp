// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include "harness/oracle/record_oracle.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "harness/oracle/random_source.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"

namespace fedarena {
namespace {

RecordPolicy exact() { return record_policy(kNoClipping, 0); }

Params gradient_of(const Bench& bench, const std::vector<std::int64_t>& examples) {
  const Batch batch = bench.reader.read(bench.dataset.train, torch::tensor(examples, torch::kInt64));
  return bench.model.gradient(bench.at(), batch);
}

TEST(RecordOracle, IsTheMeanGradientWithoutNoiseAndClipping) {
  const Bench bench;
  for (const std::int64_t batch_size : {0, 20, 21, 1000}) {
    RecordOracle oracle = bench.record(range(10, 20), exact());
    const Params expected = gradient_of(bench, range(10, 20));
    EXPECT_LE(norm(oracle.gradient(bench.at(), {.batch_size = batch_size}) - expected),
              1e-12 * norm(expected));
    EXPECT_EQ(oracle.gradient_examples(), 20);
  }
}

TEST(RecordOracle, ClipsEveryExampleOnItsOwn) {
  const Bench bench;
  constexpr double kClip = 3;
  RecordOracle oracle = bench.record(range(0, 12), record_policy(kClip, 0));
  Params expected = zeros_like(bench.at());
  int clipped = 0;
  for (std::int64_t example = 0; example < 12; ++example) {
    const Params gradient = gradient_of(bench, {example});
    clipped += norm(gradient) > kClip ? 1 : 0;
    expected.add_scaled(std::min(1.0, kClip / norm(gradient)) / 12, gradient);
  }
  EXPECT_GT(clipped, 3);
  EXPECT_LT(clipped, 12);
  EXPECT_LE(norm(oracle.gradient(bench.at(), {.batch_size = 0}) - expected), 1e-11 * norm(expected));
}

TEST(RecordOracle, DividesByTheExpectedSizeWhateverTheSample) {
  const Beacons beacons(10);
  RecordOracle oracle = beacons.record(exact(), Streams(2, 1, 0));
  std::map<std::size_t, int> sizes;
  for (int i = 0; i < 200; ++i) {
    const Params answer = oracle.gradient(beacons.zero(), {.batch_size = 4});
    const std::size_t count = beacons.lit(answer).size();
    // Every gradient at zero has the same length on its own weight: output - target = -1.
    for (const std::int64_t example : beacons.lit(answer)) {
      EXPECT_DOUBLE_EQ(answer.flat()[example].item<double>(), -1.0 / 4);
    }
    ++sizes[count];
  }
  EXPECT_GT(sizes.size(), 5U);
}

TEST(RecordOracle, WritesDownWhatItDid) {
  const Bench bench;
  const auto written = [&](const RecordPolicy& policy, std::int64_t batch_size) {
    RecordOracle oracle = bench.record(range(0, 20), policy);
    for (int i = 0; i < 3; ++i) (void)oracle.gradient(bench.at(), {.batch_size = batch_size});
    return oracle.accesses().list();
  };
  using List = std::vector<Access>;
  const SampledGaussian poisson{Sampling::kPoisson, 0.2, {1.5}, Adjacency::kZeroOut};
  const SampledGaussian fixed{Sampling::kWithoutReplacement, 0.2, {1.5}, Adjacency::kReplaceOne};
  SampledGaussian whole = poisson, whole_fixed = fixed;
  whole.rate = whole_fixed.rate = 1;
  EXPECT_EQ(written(record_policy(9, 1.5), 4), (List{{poisson, 3}}));
  EXPECT_EQ(written(record_policy(9, 1.5, kWithoutReplacement), 4), (List{{fixed, 3}}));
  for (const std::int64_t batch_size : {0, 20, 21}) {
    EXPECT_EQ(written(record_policy(9, 1.5), batch_size), (List{{whole, 3}})) << batch_size;
    EXPECT_EQ(written(record_policy(9, 1.5, kWithoutReplacement), batch_size), (List{{whole_fixed, 3}}))
        << batch_size;
  }
}

TEST(RecordOracle, WritesDownExactAccessesAsSuch) {
  const Bench bench;
  RecordOracle oracle = bench.record(range(0, 20), record_policy(1, 2));
  (void)oracle.gradient(bench.at(), {.batch_size = 5});
  (void)oracle.loss(bench.at());
  (void)oracle.label_counts();
  (void)oracle.exact_batch();
  (void)oracle.gradient(bench.at(), {.batch_size = 5});
  const Event step = SampledGaussian{Sampling::kPoisson, 0.25, {2}, Adjacency::kZeroOut};
  EXPECT_EQ(oracle.accesses().list(), (std::vector<Access>{{step, 1},
                                                           {ExactAccess{"loss"}, 1},
                                                           {ExactAccess{"label counts"}, 1},
                                                           {ExactAccess{"examples"}, 1},
                                                           {step, 1}}));
  EXPECT_EQ(oracle.size(), 20);
  EXPECT_EQ(oracle.steps_per_epoch(5), 4);
  EXPECT_EQ(oracle.accesses().list().size(), 5U);
}

TEST(RecordOracle, TakesClassesForPublicOnlyWhereTheyAreDeclaredSo) {
  const Bench bench;
  RecordPolicy policy = record_policy(1, 1);
  for (const bool declared : {false, true}) {
    policy.public_classes = declared;
    RecordOracle oracle = bench.record({1, 3, 5, 7}, policy);
    EXPECT_TRUE(torch::equal(oracle.held_classes(), torch::tensor({1, 3}, torch::kInt64)));
    const Event expected = declared ? Event(DeclaredPublic{"classes"}) : Event(ExactAccess{"classes"});
    EXPECT_EQ(oracle.accesses().list(), (std::vector<Access>{{expected, 1}}));
  }
}

// answer = (clipped sum + noise multiplier * clip norm * normals) / expected size, from the stream of this
// client's noise.
TEST(RecordOracle, AddsOneGaussianVectorAnAccess) {
  const Bench bench;
  constexpr double kClip = 0.5, kMultiplier = 3;
  RecordOracle noisy = bench.record(range(0, 20), record_policy(kClip, kMultiplier), Streams(7, 3, 2));
  RecordOracle clean = bench.record(range(0, 20), record_policy(kClip, 0), Streams(7, 3, 2));
  Stream stream = Streams(7, 3, 2)(Purpose::kNoise);
  for (const std::int64_t batch_size : {4, 4, 0, 7}) {
    const double divisor = batch_size == 0 ? 20.0 : static_cast<double>(batch_size);
    const Params answer = noisy.gradient(bench.at(), {.batch_size = batch_size});
    const Params expected = clean.gradient(bench.at(), {.batch_size = batch_size});
    const torch::Tensor noise = normal(stream, {answer.flat().numel()}) * (kMultiplier * kClip / divisor);
    EXPECT_LE((answer.flat() - expected.flat() - noise).abs().max().item<double>(), 1e-14);
  }
}

TEST(RecordOracle, AnswersAnEmptySampleWithNoiseAlone) {
  const Bench bench;
  RecordOracle clean = bench.record(range(0, 40), exact()),
               noisy = bench.record(range(0, 40), record_policy(2, 1));
  int empty = 0;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t before = clean.gradient_examples();
    const Params nothing = clean.gradient(bench.at(), {.batch_size = 1});
    const Params noise = noisy.gradient(bench.at(), {.batch_size = 1});
    if (clean.gradient_examples() > before) continue;
    ++empty;
    EXPECT_EQ(norm(nothing), 0);
    EXPECT_GT(norm(noise), 0);
  }
  EXPECT_GT(empty, 5);  // expected 18; fewer by chance: 1e-5
  EXPECT_EQ(clean.accesses().list().size(), 1U);
  EXPECT_EQ(clean.accesses().list()[0].count, 50);
}

TEST(RecordOracle, AnswersAnEmptyShardWithNoiseAlone) {
  const Bench bench;
  RecordOracle clean = bench.record({}, exact()), noisy = bench.record({}, record_policy(2, 1));
  for (const std::int64_t batch_size : {0, 4}) {
    EXPECT_EQ(norm(clean.gradient(bench.at(), {.batch_size = batch_size})), 0);
    const double length = norm(noisy.gradient(bench.at(), {.batch_size = batch_size}));
    EXPECT_GT(length, 0);
    EXPECT_TRUE(std::isfinite(length));
  }
  EXPECT_EQ(noisy.gradient_examples(), 0);
  EXPECT_EQ(std::get<SampledGaussian>(noisy.accesses().list().at(0).event).rate, 1);
}

TEST(RecordOracle, DrawsEverySampleOfAFixedSizeEquallyOften) {
  const Beacons beacons(6);
  RecordOracle oracle = beacons.record(record_policy(kNoClipping, 0, kWithoutReplacement), Streams(3, 1, 0));
  EXPECT_TRUE(draws_equally(6'000, 15, [&] {
    std::vector<std::int64_t> sample = beacons.lit(oracle.gradient(beacons.zero(), {.batch_size = 2}));
    EXPECT_EQ(sample.size(), 2U);
    return sample;
  }));
  EXPECT_EQ(oracle.gradient_examples(), 2 * 6'000);
}

// All 32 subsets of 5 examples, each with its probability q^k (1 - q)^(5 - k): inclusions are independent and
// sizes binomial.
TEST(RecordOracle, IncludesEveryExampleOnItsOwn) {
  const Beacons beacons(5);
  constexpr int kAccesses = 10'000;
  RecordOracle oracle = beacons.record(exact(), Streams(4, 1, 0));
  std::vector<double> counts(32);
  for (int i = 0; i < kAccesses; ++i) {
    std::size_t subset = 0;
    for (const std::int64_t example : beacons.lit(oracle.gradient(beacons.zero(), {.batch_size = 2}))) {
      subset |= std::size_t{1} << example;
    }
    ++counts[subset];
  }
  EXPECT_TRUE(independent_inclusions(counts, 5, 2.0 / 5));
}

// Whoever knows the seed could draw samples again, and amplification rests on nobody's knowing them.
TEST(RecordOracle, NeverRepeatsTheSystemsSamples) {
  const Beacons beacons(200);
  for (const char* sampling : {kPoisson, kWithoutReplacement}) {
    const auto sample = [&](const char* source) {
      RecordPolicy policy = record_policy(kNoClipping, 0, sampling);
      policy.noise_source = source;
      RecordOracle oracle = beacons.record(policy, Streams(3, 1, 0));
      return beacons.lit(oracle.gradient(beacons.zero(), {.batch_size = 100}));
    };
    EXPECT_EQ(sample(kStreamNoise), sample(kStreamNoise));
    EXPECT_NE(sample(kSystemNoise), sample(kSystemNoise));
  }
}

TEST(RecordOracle, RefusesABatchOfLessThanNothing) {
  const Bench bench;
  RecordOracle oracle = bench.record(range(0, 10), exact());
  EXPECT_THROW(oracle.gradient(bench.at(), {.batch_size = -1}), Error);
  EXPECT_THROW((void)oracle.steps_per_epoch(-1), Error);
  EXPECT_THROW((void)oracle.gradients_left(-1), Error);
  EXPECT_THROW((void)oracle.votes_left({.parts = -1}), Error);
  EXPECT_TRUE(oracle.accesses().list().empty());
}

// Examples may have made it fail. What a plugin sets for LibTorch in its thread makes none fail.
TEST(RecordOracle, NoticesWhoGoesOnAfterAGradientThatFailed) {
  const Bench bench;
  RecordOracle oracle = bench.record(range(0, 10), exact());
  {
    const c10::InferenceMode inference;
    EXPECT_NO_THROW(
        oracle.gradient(1e300 * bench.at(), {.batch_size = 0}));  // examples that are not ordinary
  }
  EXPECT_NO_THROW(oracle.refuse_caught_failure());
  EXPECT_ANY_THROW(oracle.gradient(Params(), {.batch_size = 0}));
  test::expect_refused("went on after an answer of the oracle had failed",
                       [&] { oracle.refuse_caught_failure(); });
}

// Who sees its operations sees private examples before there is noise on them.
TEST(RecordOracle, IsSeenByNoObserverOfLibTorch) {
  static std::atomic<int> seen = 0;
  const auto observe = [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
    ++seen;
    return nullptr;
  };
  const Bench bench;
  RecordOracle oracle = bench.record(range(0, 10), record_policy(1, 1));
  const Params at = bench.at();
  for (const auto add : {at::addGlobalCallback, at::addThreadLocalCallback}) {
    const at::CallbackHandle handle = add(at::RecordFunctionCallback(observe));
    seen = 0;
    (void)torch::ones({2}).sum();
    EXPECT_GT(seen.load(), 0);
    seen = 0;
    (void)oracle.gradient(at, {.batch_size = 0});
    at::removeCallback(handle);
    EXPECT_EQ(seen.load(), 0);
  }
}

TEST(RecordOracle, StopsWhenItIsTold) {
  Bench bench;
  RecordOracle oracle = bench.record(range(0, 10), record_policy(1, 1));
  bench.stop = true;
  EXPECT_THROW(oracle.gradient(bench.at(), {.batch_size = 0}), Interrupted);
}

// Error rates: each comparison of the system's noise raises a false alarm in one run of 1e6.

Streams streams() { return {3, 4, 5}; }

std::vector<double> draw(RandomSource& source, std::size_t count) {
  std::vector<double> values(count);
  source.fill_normal(values);
  return values;
}

TEST(NoiseSource, OfAStreamIsThatStream) {
  for (const std::uint64_t index : {0, 1, 7}) {
    Stream stream = streams()(Purpose::kNoise, index);
    const auto source = make_noise_source(kStreamNoise, streams(), index);
    for (const std::size_t count : {5, 1, 64}) {
      for (const double value : draw(*source, count)) EXPECT_EQ(value, stream.normal());
    }
  }
}

TEST(NoiseSource, OfTheSystemIsNormal) {
  constexpr std::size_t kDraws = 200'001;  // odd, and many times what is read at once
  const std::vector<double> values = draw(*make_noise_source(kSystemNoise, streams()), kDraws);
  EXPECT_LT(std::abs(mean_z(values, 0, 1)), kNormalBound);
  EXPECT_LT(std::abs(variance_z(values, 0, 1, 3)), kNormalBound);
  std::vector<double> neighbours;
  for (std::size_t i = 1; i < kDraws; ++i) neighbours.push_back(values[i] * values[i - 1]);
  EXPECT_LT(std::abs(mean_z(neighbours, 0, 1)), kNormalBound);
  EXPECT_LT(kolmogorov_of_normal(values), kKolmogorovBound);
}

TEST(NoiseSource, OfTheSystemNeverRepeats) {
  const auto first = make_noise_source(kSystemNoise, streams()),
             second = make_noise_source(kSystemNoise, streams());
  std::vector<double> values;
  for (RandomSource* source : {first.get(), second.get()}) {
    for (int i = 0; i < 2; ++i) {
      for (const double value : draw(*source, 1'500)) values.push_back(value);
    }
  }
  std::sort(values.begin(), values.end());
  // Two of 6,000 agree by chance: 1e-8.
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
}

}  // namespace
}  // namespace fedarena
