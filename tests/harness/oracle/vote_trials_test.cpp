// Voters that look at one another, and what finds them: some are asked again, alone.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"

#include "tests/harness/oracle/bench.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

TEST(VoteTrials, RefuseAVoterThatLooksAtAnother) {
  const Bench bench;
  const Vote centred = [](const Voters& voters) {
    const torch::Tensor own = sums(voters);
    return own - own.mean(0, /*keepdim=*/true);
  };
  for (const std::int64_t parts : {0, 20}) {
    RecordOracle oracle = with_noise(bench, 1);
    expect_refused("otherwise when it is asked alone",
                   [&] { (void)oracle.noisy_sum(centred, {.parts = parts, .numbers = 3, .bound = 100}); });
    EXPECT_TRUE(oracle.accesses().list().empty());
  }
  // Also where there are two of them.
  for (const auto& [parts, examples] : {std::pair(2, 40), {0, 2}}) {
    RecordOracle pair = with_noise(bench, 1, range(0, examples));
    expect_refused("otherwise when it is asked alone",
                   [&] { (void)pair.noisy_sum(centred, {.parts = parts, .numbers = 3, .bound = 100}); });
    EXPECT_NO_THROW((void)pair.noisy_sum(sums, {.parts = parts, .numbers = 3, .bound = 100}));
  }
  RecordOracle oracle = with_noise(bench, 1, range(0, 7));
  expect_refused("7 examples, too few for 8 parts",
                 [&] { (void)oracle.noisy_sum(sums, {.parts = 8, .numbers = 3}); });
}

// Votes, blocks and voters that are tried are drawn anew in each round: of so many rounds, none finds it once
// in 10^6.
TEST(VoteTrials, FindWhicheverLooksAtOthers) {
  const Beacons bench(600, 1);
  const Vote centred = [](const Voters& voters) {
    const torch::Tensor own = voters.examples.inputs.select(2, 0).mean(1).view({-1, 1, 1});
    return own - own.mean(0, /*keepdim=*/true);
  };
  const Vote own = [](const Voters& voters) { return torch::ones({voters.size(), 1, 1}, torch::kFloat64); };
  const auto is_refused = [&](const std::function<Vote(int cast)>& vote, std::int64_t parts) {
    for (int round = 1; round <= 25; ++round) {
      RecordOracle oracle = bench.record(record_policy(1, 1), Streams(1, round, 0));
      try {
        for (int cast = 0; cast < 30; ++cast)
          (void)oracle.noisy_sum(vote(cast), {.parts = parts, .bound = 100});
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("otherwise when it is asked alone"));
        return true;
      }
    }
    return false;
  };
  for (const std::int64_t parts : {0, 100}) {
    for (const int kinds : {2, 3, 5, 8})
      EXPECT_TRUE(is_refused([&](int cast) { return (cast + 1) % kinds == 0 ? centred : own; }, parts));
    for (const std::int64_t first : {0, 32, 64, 96, 256, 512}) {
      if (first >= (parts == 0 ? 600 : parts) || (parts == 0 && first % 256 != 0)) continue;
      const Vote in_block = [&](const Voters& voters) {
        return voters.first == first && voters.size() > 1 ? centred(voters) : own(voters);
      };
      EXPECT_TRUE(is_refused([&](int) { return in_block; }, parts)) << parts << " " << first;
    }
    EXPECT_FALSE(is_refused([&](int) { return own; }, parts));
  }
}

// As batches of other sizes round, and the signs that follow: one of each voter's 500 is turned, each
// elsewhere.
TEST(VoteTrials, LetVotersDifferByRounding) {
  const Bench bench;
  const Vote rounded = [](const Voters& voters) {
    torch::Tensor signs = torch::ones({voters.size(), 1, 500}, torch::kFloat64);
    if (voters.size() == 1) signs.select(2, 7 + voters.first).neg_();
    return signs;
  };
  RecordOracle oracle = with_noise(bench, 0);
  EXPECT_EQ(oracle.noisy_sum(rounded, {.parts = 20, .numbers = 500, .bound = 100})[0][7].item<double>(), 20);
}

// Little in each answer, several bounds in the sum of them.
TEST(VoteTrials, RefuseVotersThatAllFollowOneRecordALittle) {
  const Bench bench;
  const Vote told = [](const Voters& voters) {
    torch::Tensor answers = torch::zeros({voters.size(), 1, 2}, torch::kFloat64);
    answers.select(2, 0).fill_(0.99);
    if (voters.size() > 1) answers.select(2, 1).fill_(0.095);
    return answers;
  };
  for (const std::int64_t parts : {0, 20}) {
    RecordOracle oracle = with_noise(bench, 1);
    expect_refused("otherwise when it is asked alone",
                   [&] { (void)oracle.noisy_sum(told, {.parts = parts, .numbers = 2}); });
  }
  // Also in one vote of many, which hides in the length of all.
  const Vote hidden = [&](const Voters& voters) {
    return torch::cat({told(voters), torch::ones({voters.size(), 999, 2}, torch::kFloat64)}, 1);
  };
  RecordOracle oracle = with_noise(bench, 1);
  expect_refused("otherwise when it is asked alone",
                 [&] { (void)oracle.noisy_sum(hidden, {.parts = 20, .votes = 1000, .numbers = 2}); });
}

// What a vote writes to examples, no later vote reads, nor the trial of whom is asked alone.
TEST(VoteTrials, ReadWhatNoVoteWroteTo) {
  const Bench bench;
  for (const std::int64_t parts : {0, 20}) {
    const Vote mixed = [](const Voters& voters) {
      voters.examples.inputs.copy_(
          voters.examples.inputs.narrow(0, 0, 1).expand_as(voters.examples.inputs).clone());
      return sums(voters);
    };
    RecordOracle refused = with_noise(bench, 1);
    expect_refused("otherwise when it is asked alone",
                   [&] { (void)refused.noisy_sum(mixed, {.parts = parts, .numbers = 3, .bound = 100}); });
    const VoteQuery query{.parts = parts, .numbers = 3, .bound = kNoClipping};
    const Vote erasing = [](const Voters& voters) {
      const torch::Tensor own = sums(voters);
      voters.examples.inputs.zero_();
      voters.examples.targets.zero_();
      return own;
    };
    RecordOracle oracle = with_noise(bench, 0);
    const torch::Tensor first = oracle.noisy_sum(erasing, query);
    EXPECT_TRUE(torch::equal(oracle.noisy_sum(sums, query), first));
  }
}

TEST(VoteTrials, RefuseAVoterThatRemembersOthers) {
  const Bench bench;
  RecordOracle oracle = with_noise(bench, 1);
  const Key<torch::Tensor> means{"means"};
  const Vote gossip = [&](const Voters& voters) {
    const torch::Tensor own = sums(voters);
    if (!voters.memory.contains(means.name))
      voters.memory.put(means, own.mean(0, /*keepdim=*/true).expand_as(own).clone());
    return own;
  };
  expect_refused("a voter remembers otherwise when it is asked alone",
                 [&] { (void)oracle.noisy_sum(gossip, {.parts = 20, .numbers = 3}); });
  EXPECT_TRUE(oracle.accesses().list().empty());
}

// A mean over voters that one alone has none of; what all of them keep of one record, by type, by shape, and
// by so little that it may be rounding until the next vote magnifies it.
TEST(VoteTrials, RefuseWhatVotersRememberOfARecordOfOthers) {
  const Bench bench;
  const Key<torch::Tensor> kept{"kept"};
  const auto refusal = [&](const std::function<torch::Tensor(const Voters&, bool told)>& remember) {
    RecordOracle oracle = with_noise(bench, 1);
    const Vote vote = [&](const Voters& voters) {
      const bool told = (voters.examples.inputs.select(2, 0) > 38.5).any().item<bool>();
      torch::Tensor answers = torch::zeros({voters.size(), 1, 3}, torch::kFloat64);
      if (voters.memory.contains(kept.name))
        answers +=
            (voters.memory[kept].reshape({voters.size(), -1}).select(1, 0) - 1).sign().view({-1, 1, 1});
      voters.memory.put(kept, remember(voters, told));
      return answers;
    };
    return message_of([&] {
      for (int cast = 0; cast < 2; ++cast)
        (void)oracle.noisy_sum(vote, {.parts = 20, .numbers = 3, .bound = 10});
    });
  };
  const auto alike = [](const Voters& voters, const std::vector<std::int64_t>& row, torch::ScalarType type) {
    std::vector<std::int64_t> shape{voters.size()};
    shape.insert(shape.end(), row.begin(), row.end());
    return torch::ones(shape, type);
  };
  const std::string remembers = "a voter remembers otherwise when it is asked alone";
  EXPECT_THAT(refusal([](const Voters& voters, bool) {
                const torch::Tensor own = sums(voters);
                return (own - own.mean(0, true)) / own.std(0, false, true);
              }),
              HasSubstr(remembers));
  EXPECT_THAT(refusal([&](const Voters& voters, bool told) {
                return alike(voters, {2}, told ? torch::kFloat64 : torch::kFloat32);
              }),
              HasSubstr(remembers));
  EXPECT_THAT(refusal([&](const Voters& voters, bool told) {
                return alike(voters, told ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{3, 2},
                             torch::kFloat64);
              }),
              HasSubstr(remembers));
  EXPECT_THAT(refusal([&](const Voters& voters, bool told) {
                return alike(voters, {1}, torch::kFloat64) * (told ? 1.01 : 0.99);
              }),
              HasSubstr("a voter answers otherwise when it is asked alone"));
}

// What compares as equal has the same bits, and what is zero but for rounding is zero.
TEST(VoteTrials, LetNothingButRoundingDiffer) {
  const Bench bench;
  const Key<torch::Tensor> zero{"zero"}, gain{"gain"};
  RecordOracle oracle = with_noise(bench, 1);
  const Vote vote = [&](const Voters& voters) {
    if (voters.memory.contains(zero.name)) {
      EXPECT_FALSE(voters.memory[zero].signbit().any().item<bool>());
    }
    voters.memory.put(zero, torch::full({voters.size()}, -0.0));
    voters.memory.put(gain, torch::full({voters.size()}, voters.size() == 1 ? 1e-8 : 0.0));
    return sums(voters);
  };
  for (int cast = 0; cast < 4; ++cast)
    EXPECT_NO_THROW((void)oracle.noisy_sum(vote, {.parts = 20, .numbers = 3, .bound = 100}));
}

// Of two blocks of voters, one has more to remember, or it is otherwise.
TEST(VoteTrials, RefuseVotersThatRememberUnlikeThings) {
  const Bench bench;
  const auto refusal = [&](const std::string& name, std::int64_t numbers, torch::ScalarType type) {
    RecordOracle oracle = with_noise(bench, 1);
    const Vote vote = [&](const Voters& voters) {
      const bool other = voters.first >= 32;
      voters.memory.put_entry({other ? name : "x", torch::ones({voters.size(), other ? numbers : 2},
                                                               other ? type : torch::kFloat32)});
      return sums(voters);
    };
    return message_of([&] {
      for (int cast = 0; cast < 20; ++cast)
        (void)oracle.noisy_sum(vote, {.parts = 40, .numbers = 3, .bound = 100});
    });
  };
  const std::string told = "some voters remember other tensors than others do";
  EXPECT_THAT(refusal("y", 2, torch::kFloat32), HasSubstr(told));
  EXPECT_THAT(refusal("x", 3, torch::kFloat32), HasSubstr(told));
  EXPECT_THAT(refusal("x", 2, torch::kFloat64), HasSubstr(told));
}

}  // namespace
}  // namespace fedarena
