// Sums of votes: what is in them, what they cost, and what one record can do. Error rates: each statistical
// comparison raises a false alarm with probability 1e-6 over seeds.
#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/oracle/bench.hpp"
#include "tests/message_of.hpp"

namespace fedarena {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Key<torch::Tensor> kCalls{"calls"};

// Each voter's examples summed, one vote of three numbers.
torch::Tensor sums(const Voters& voters) { return voters.examples.inputs.sum(1).unsqueeze(1); }

// The numbers of the examples, which are their first features: [1, examples of the bench], 1 for those in it.
torch::Tensor presence(const Voters& voters) {
  const torch::Tensor numbers = voters.examples.inputs.select(2, 0).round().to(torch::kInt64);
  return torch::zeros({voters.size(), 1, 40}, torch::kFloat64)
      .scatter_(2, numbers.unsqueeze(1), torch::ones_like(numbers, torch::kFloat64).unsqueeze(1));
}

RecordOracle with_noise(const Bench& bench, double noise_multiplier,
                        const std::vector<std::int64_t>& shard = range(0, 40), std::int64_t round = 1) {
  return bench.record(shard, record_policy(1, noise_multiplier), Streams(1, round, 0));
}

TEST(Votes, AreClippedOneByOneAndSummed) {
  const Bench bench;
  constexpr double kBound = 20;
  const torch::Tensor inputs = bench.dataset.train.inputs;
  torch::Tensor expected = torch::zeros({1, 3}, torch::kFloat64);
  int clipped = 0;
  for (std::int64_t example = 0; example < 40; ++example) {
    const double length = inputs[example].norm().item<double>();
    clipped += length > kBound ? 1 : 0;
    expected[0] += inputs[example] * std::min(1.0, kBound / length);
  }
  EXPECT_GT(clipped, 10);
  RecordOracle oracle = with_noise(bench, 0);
  EXPECT_LE((oracle.noisy_sum(sums, {.bound = kBound}) - expected).norm().item<double>(), 1e-9);
  ExactOracle exact = bench.exact(range(0, 40));
  EXPECT_LE((exact.noisy_sum(sums, {.bound = kBound}) - expected).norm().item<double>(), 1e-9);
  EXPECT_THAT(exact.accesses().list(), ElementsAre(Access{ExactAccess{"votes"}, 1}));
  const Vote unbounded = [](const Voters& voters) {
    return torch::full({voters.size(), 1, 2}, std::numeric_limits<double>::quiet_NaN());
  };
  EXPECT_EQ(oracle.noisy_sum(unbounded, {}).abs().sum().item<double>(), 0);
}

TEST(Votes, ArePartsOfOneSizeThatStayTheSame) {
  const Bench bench;
  const auto who_votes = [&](std::int64_t round, std::int64_t parts) {
    std::vector<torch::Tensor> rows(static_cast<std::size_t>(parts));
    const Vote vote = [&](const Voters& voters) {
      torch::Tensor here = presence(voters);
      for (std::int64_t row = 0; row < voters.size(); ++row)
        rows[static_cast<std::size_t>(voters.first + row)] = here[row][0].clone();
      return here;
    };
    RecordOracle oracle = with_noise(bench, 0, range(0, 40), round);
    (void)oracle.noisy_sum(vote, {.parts = parts, .bound = kNoClipping});
    return torch::stack(rows);
  };
  const torch::Tensor parts = who_votes(1, 7);
  EXPECT_TRUE(torch::equal(parts.sum(1), torch::full({7}, 5.0, torch::kFloat64)));
  EXPECT_EQ(parts.sum(0).max().item<double>(), 1) << "no example votes twice";
  EXPECT_TRUE(torch::equal(parts, who_votes(4, 7)));
  // They are dealt at random, not cut in the order of the shard.
  EXPECT_NE(parts[0].argmax().item<std::int64_t>() + 5, parts[1].argmax().item<std::int64_t>());
}

// The most that an exchange can do, by voters that are of one mind before and of the opposite one after.
TEST(Votes, MoveByTwiceTheBoundWhereARecordIsExchanged) {
  constexpr std::int64_t kSigns = 9;
  for (const std::int64_t parts : {1, 8, 40}) {
    const Vote turned = [](const Voters& voters) {
      const torch::Tensor has = (voters.examples.inputs.select(2, 0) > 38.5).any(1).view({-1, 1, 1});
      return torch::where(has, -1.0, 1.0).expand({voters.size(), 1, kSigns}).to(torch::kFloat64) * 5;
    };
    const Bench before;
    Bench after;
    after.dataset.train.inputs[39].zero_();
    const double bound = std::sqrt(static_cast<double>(kSigns));
    const auto answer = [&](const Bench& bench) {
      return with_noise(bench, 0).noisy_sum(turned, {.parts = parts, .bound = bound});
    };
    const double moved = (answer(before) - answer(after)).norm().item<double>();
    EXPECT_LE(moved, 2 * bound) << parts;
    EXPECT_GE(moved, 2 * bound * (1 - 1e-9)) << parts;
  }
}

TEST(Votes, AreNoisedAndWrittenDownOneByOne) {
  const Bench bench;
  constexpr std::int64_t kVotes = 5, kNumbers = 4000;
  constexpr double kNoise = 1.5, kBound = 3;
  const Vote silent = [](const Voters& voters) { return torch::zeros({voters.size(), kVotes, kNumbers}); };
  RecordOracle oracle = with_noise(bench, kNoise);
  const torch::Tensor parts = oracle.noisy_sum(silent, {.parts = 10, .bound = kBound});
  const torch::Tensor examples = oracle.noisy_sum(silent, {.bound = kBound});
  for (const torch::Tensor& answer : {parts, examples}) {
    ASSERT_EQ(answer.sizes(), (std::vector<std::int64_t>{kVotes, kNumbers}));
    const auto count = static_cast<double>(answer.numel());
    const double mean_square = (answer / (kNoise * kBound)).square().mean().item<double>();
    EXPECT_LE(std::abs(mean_square - 1), 4.9 * std::sqrt(2 / count));
    EXPECT_LE(std::abs((answer[0] * answer[1]).mean().item<double>()),
              4.9 * kNoise * kBound * kNoise * kBound / std::sqrt(static_cast<double>(kNumbers)));
  }
  EXPECT_THAT(oracle.accesses().list(), ElementsAre(Access{Gaussian{kNoise, Adjacency::kReplaceOne}, kVotes},
                                                    Access{Gaussian{kNoise, Adjacency::kZeroOut}, kVotes}));
}

TEST(Votes, HaveTheSameBitsForAnyNumberOfWorkers) {
  const Beacons one(600, 1), four(600, 4);
  const auto answer = [](const Beacons& bench, std::int64_t parts) {
    RecordOracle oracle = bench.record(record_policy(1, 0.5), Streams(1, 1, 0));
    return oracle.noisy_sum(
        [](const Voters& voters) { return voters.examples.inputs.mul(0.1).cumsum(2).mean(1, true); },
        {.parts = parts, .bound = 0.7});
  };
  for (const std::int64_t parts : {0, 100})
    EXPECT_TRUE(torch::equal(answer(one, parts), answer(four, parts)));
}

TEST(Votes, AreRefusedWhereOneVoterLooksAtAnother) {
  const Bench bench;
  const Vote centred = [](const Voters& voters) {
    const torch::Tensor own = sums(voters);
    return own - own.mean(0, /*keepdim=*/true);
  };
  for (const std::int64_t parts : {0, 20}) {
    RecordOracle oracle = with_noise(bench, 1);
    EXPECT_THAT(test::message_of([&] { (void)oracle.noisy_sum(centred, {.parts = parts, .bound = 100}); }),
                HasSubstr("otherwise when it is asked alone"));
    EXPECT_TRUE(oracle.accesses().list().empty());
  }
  RecordOracle oracle = with_noise(bench, 1, range(0, 7));
  EXPECT_THAT(test::message_of([&] { (void)oracle.noisy_sum(sums, {.parts = 8}); }),
              HasSubstr("7 examples, too few for 8 parts"));
}

// As batches of other sizes round, and the signs that follow: one of each voter's 500 is turned.
TEST(Votes, MayDifferByRoundingWhereAVoterIsAskedAlone) {
  const Bench bench;
  const Vote rounded = [](const Voters& voters) {
    torch::Tensor signs = torch::ones({voters.size(), 1, 500}, torch::kFloat64);
    if (voters.size() == 1) signs.select(2, 7).neg_();
    return signs;
  };
  RecordOracle oracle = with_noise(bench, 0);
  EXPECT_EQ(oracle.noisy_sum(rounded, {.parts = 20, .bound = 100})[0][7].item<double>(), 20);
}

// Each voter counts its calls, from its own number on.
torch::Tensor calls(const Voters& voters) {
  torch::Tensor counts = voters.memory.contains(kCalls.name)
                             ? voters.memory[kCalls] + 1
                             : torch::arange(voters.first, voters.first + voters.size(), torch::kFloat64);
  voters.memory.put(kCalls, counts);
  return counts.view({-1, 1, 1});
}

TEST(Votes, RememberBehindTheDoor) {
  const Bench bench;
  const auto asked = [&](RecordOracle& oracle, bool keep) {
    return oracle.noisy_sum(calls, {.parts = 40, .bound = kNoClipping, .keep = keep}).item<double>();
  };
  constexpr double kFirst = 39 * 40 / 2;
  RecordOracle first = with_noise(bench, 0);
  EXPECT_EQ(asked(first, true), kFirst);
  EXPECT_EQ(asked(first, true), kFirst + 40);
  const Key<double> own{"own"};
  Message state{{own, 2.5}};
  first.remember(state);

  RecordOracle second = with_noise(bench, 0, range(0, 40), 2);
  second.recall(state);
  EXPECT_EQ(state.entries().size(), 1U) << "the algorithm sees what is its own";
  Message unasked = state;
  second.remember(unasked);
  EXPECT_EQ(unasked.entries().size(), 2U) << "a round without votes keeps what was remembered";
  EXPECT_EQ(asked(second, true), kFirst + 80);

  RecordOracle third = with_noise(bench, 0, range(0, 40), 3);
  third.recall(unasked);
  EXPECT_EQ(asked(third, false), kFirst) << "a round that keeps nothing begins with nothing";
  third.remember(state);
  EXPECT_EQ(state.entries().size(), 1U);
  Message taken{{Key<double>{"voters/40/calls"}, 1.0}};
  EXPECT_THROW(third.remember(taken), Bug);
}

TEST(Votes, OfACanaryThatIsOutAreThoseOfZeros) {
  const Bench bench;
  const std::vector<std::vector<std::int64_t>> shards{range(0, 40)};
  const Canaries canaries({.kind = kMislabelledCanaries, .count = 10}, 3, shards, bench.dataset.train, 4,
                          bench.model.layout()->numel());
  const Streams streams(1, 1, 0);
  RecordOracle oracle(bench.setting(), torch::tensor(range(0, 40), torch::kInt64), streams,
                      record_policy(1, 0), canaries.of_client(0, streams));
  double expected = 0;
  for (std::int64_t example = 0; example < 40; ++example) expected += static_cast<double>(example);
  int out = 0;
  for (std::size_t canary = 0; canary < 10; ++canary) {
    if (canaries.in()[canary]) continue;
    expected -= static_cast<double>(canaries.places()[canary]);
    ++out;
  }
  EXPECT_GT(out, 0);
  for (const std::int64_t parts : {0, 10})
    EXPECT_DOUBLE_EQ(oracle.noisy_sum(sums, {.parts = parts, .bound = kNoClipping})[0][0].item<double>(),
                     expected);
}

}  // namespace
}  // namespace fedarena
