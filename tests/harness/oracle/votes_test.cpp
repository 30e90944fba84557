// Sums of votes: what is in them, what they cost, and what one record can do. Error rates: each statistical
// comparison raises a false alarm with probability 1e-6 over seeds.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"

#include "tests/harness/oracle/bench.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

constexpr Key<torch::Tensor> kCalls{"calls"};

// The numbers of the examples, which are their first features: [1, examples of the bench], 1 for those in it.
torch::Tensor presence(const Voters& voters) {
  const torch::Tensor numbers = voters.examples.inputs.select(2, 0).round().to(torch::kInt64);
  return torch::zeros({voters.size(), 1, 40}, torch::kFloat64)
      .scatter_(2, numbers.unsqueeze(1), torch::ones_like(numbers, torch::kFloat64).unsqueeze(1));
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
  EXPECT_LE((oracle.noisy_sum(sums, {.numbers = 3, .bound = kBound}) - expected).norm().item<double>(), 1e-9);
  ExactOracle exact = bench.exact(range(0, 40));
  EXPECT_LE((exact.noisy_sum(sums, {.numbers = 3, .bound = kBound}) - expected).norm().item<double>(), 1e-9);
  EXPECT_THAT(exact.accesses().list(), ElementsAre(Access{ExactAccess{"votes"}, 1}));
  const Vote unbounded = [](const Voters& voters) { return torch::full({voters.size(), 1, 2}, kNan); };
  EXPECT_EQ(oracle.noisy_sum(unbounded, {.numbers = 2}).abs().sum().item<double>(), 0);
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
    (void)oracle.noisy_sum(vote, {.parts = parts, .numbers = 40, .bound = kNoClipping});
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
      return with_noise(bench, 0).noisy_sum(turned, {.parts = parts, .numbers = kSigns, .bound = bound});
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
  VoteQuery query{.parts = 10, .votes = kVotes, .numbers = kNumbers, .bound = kBound};
  const torch::Tensor parts = oracle.noisy_sum(silent, query);
  query.parts = 0;
  const torch::Tensor examples = oracle.noisy_sum(silent, query);
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
        {.parts = parts, .numbers = 600, .bound = 0.7});
  };
  for (const std::int64_t parts : {0, 100})
    EXPECT_TRUE(torch::equal(answer(one, parts), answer(four, parts)));
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
  EXPECT_EQ(asked(third, false), kFirst) << "what keeps nothing begins with nothing";
  EXPECT_EQ(asked(third, true), kFirst + 80) << "beside what was kept";
  EXPECT_EQ(asked(third, false), kFirst + 40);
  third.remember(state);
  EXPECT_EQ(state.entries().size(), 2U);
  Message taken{{Key<double>{"voters/40/calls"}, 1.0}};
  EXPECT_THROW(third.remember(taken), Error);
}

// How many numbers a vote has could tell what its voter holds.
TEST(Votes, AreRefusedWhereTheirShapeIsNotTheDeclaredOne) {
  const Bench bench;
  RecordOracle oracle = with_noise(bench, 1);
  const auto refusal = [&](const Vote& vote, const VoteQuery& query) {
    return message_of([&] { (void)oracle.noisy_sum(vote, query); });
  };
  for (const std::int64_t parts : {0, 20}) {
    EXPECT_THAT(refusal(sums, {.parts = parts, .votes = 1, .numbers = 4}),
                has_all("voters answer with Double of shape [", ", 1, 3]", "[voters, votes, numbers]"));
    EXPECT_THAT(refusal(sums, {.parts = parts, .votes = 3, .numbers = 1}), HasSubstr(", 3, 1]"));
  }
  const Vote whole = [](const Voters& voters) { return torch::ones({voters.size(), 1, 1}, torch::kInt64); };
  EXPECT_THAT(refusal(whole, {}), HasSubstr("answer with Long"));
  EXPECT_THAT(refusal([](const Voters&) { return torch::Tensor(); }, {}), HasSubstr("an undefined tensor"));
  // Data decides: voter 39 alone has more to say.
  const Vote telling = [](const Voters& voters) {
    const bool has = (voters.examples.inputs.select(2, 0) > 38.5).any().item<bool>();
    return torch::ones({voters.size(), has ? 2 : 1, 1}, torch::kFloat64);
  };
  EXPECT_THAT(refusal(telling, {.parts = 40}), HasSubstr("voters answer with"));
  EXPECT_TRUE(oracle.accesses().list().empty());
  EXPECT_THAT(refusal(sums, {.numbers = 0}),
              HasSubstr("the algorithm asks the oracle for votes of 0 numbers; allowed: 1 or more"));
  EXPECT_THAT(refusal(Vote(), {}), HasSubstr("a vote that is an empty function"));
  // That it failed tells of examples, too, so the algorithm may not go on as if nothing was the matter.
  expect_refused("went on after an answer of the oracle had failed", [&] { oracle.refuse_caught_failure(); });
  EXPECT_NO_THROW(with_noise(bench, 1).refuse_caught_failure());

  // As does that it was interrupted, which a vote can say of itself.
  RecordOracle other = with_noise(bench, 1);
  const Vote interrupting = [](const Voters&) -> torch::Tensor { throw Interrupted(); };
  EXPECT_THROW((void)other.noisy_sum(interrupting, {}), Interrupted);
  EXPECT_THAT(test::message_of([&] { other.refuse_caught_failure(); }), HasSubstr("went on after an answer"));
}

// Where squares of numbers vanish, nothing would be clipped; and the original is the algorithm's to change.
TEST(Votes, AreClippedToTheBoundThatWasAskedFor) {
  const Bench bench;
  RecordOracle oracle = with_noise(bench, 1);
  for (const double bound : {0.0, -1.0, 1e-31, 1e31, kInfinity})
    EXPECT_THROW((void)oracle.noisy_sum(sums, {.numbers = 3, .bound = bound}), Error) << bound;
  VoteQuery query{.parts = 20, .numbers = 3, .bound = 1e6};
  const torch::Tensor wanted = with_noise(bench, 1).noisy_sum(sums, query);
  const Vote turncoat = [&](const Voters& voters) {
    query.bound = 1e-20;
    return sums(voters);
  };
  EXPECT_TRUE(oracle.noisy_sum(turncoat, query).equal(wanted));
}

// While the vote is known that put it there, rather than when the round is over.
TEST(Votes, AreRefusedWhereWhatVotersRememberCannotBeKept) {
  const Bench bench;
  const auto refusal = [&](const std::string& name, torch::ScalarType type) {
    RecordOracle oracle = with_noise(bench, 1);
    const Vote vote = [&](const Voters& voters) {
      voters.memory.put_entry({name, torch::ones({voters.size()}, type)});
      return sums(voters);
    };
    return message_of([&] { (void)oracle.noisy_sum(vote, {.parts = 20, .numbers = 3, .keep = true}); });
  };
  EXPECT_THAT(refusal(std::string(1000, 'x'), torch::kFloat64),
              HasSubstr("what voters remember has a name of 1000 characters"));
  for (const torch::ScalarType type : {torch::kFloat16, torch::kComplexFloat})
    EXPECT_THAT(refusal("x", type), HasSubstr("\"x\" in what voters remember is of type"));
}

// Private examples are in the hands of a vote: nothing that the harness owns carries them away.
TEST(Votes, GiveAwayNothingButTheirAnswer) {
  const Bench bench;
  RecordOracle oracle = with_noise(bench, 1);
  const Key<double> kept{"kept"};
  Message state{{kept, 1.0}};
  Observations observed;
  oracle.seal_in_votes(state, observed);
  const auto refusal = [&](const std::function<void(const Voters&)>& leak, std::int64_t parts) {
    const Vote vote = [&](const Voters& voters) {
      if (voters.first == 0) leak(voters);
      return sums(voters);
    };
    return message_of([&] { (void)oracle.noisy_sum(vote, {.parts = parts, .numbers = 3}); });
  };
  const Params at = bench.at();
  for (const std::int64_t parts : {0, 20}) {
    EXPECT_THAT(refusal(
                    [&](const Voters& voters) {
                      observed.add("label", voters.examples.targets[0][0].item<double>());
                    },
                    parts),
                HasSubstr("the observation \"label\" is recorded inside of a vote"));
    const std::vector<std::pair<const char*, std::function<void()>>> accesses = {
        {"a gradient", [&] { (void)oracle.gradient(at, {.batch_size = 8}); }},
        {"a loss", [&] { (void)oracle.loss(at); }},
        {"label counts", [&] { (void)oracle.label_counts(); }},
        {"classes", [&] { (void)oracle.held_classes(); }},
        {"examples", [&] { (void)oracle.exact_batch(); }},
        {"randomised responses",
         [&] { (void)oracle.randomised_response(torch::zeros({1}, torch::kInt64), {}, 1); }},
        {"votes", [&] { (void)oracle.noisy_sum(sums, {.numbers = 3}); }}};
    for (const auto& [what, access] : accesses) {
      EXPECT_THAT(refusal([&](const Voters&) { access(); }, parts),
                  HasSubstr(std::string("asked for ") + what + " inside of a vote"));
    }
    EXPECT_THAT(refusal([&](const Voters&) { observed = Observations(); }, parts),
                HasSubstr("the client's observations are replaced inside of a vote"));
    const std::string put = "\"kept\" in the client's state is put inside of a vote";
    EXPECT_THAT(refusal([&](const Voters&) { state.put(kept, 2.0); }, parts), HasSubstr(put));
    state = {{kept, 1.0}};
    EXPECT_THAT(refusal([&](const Voters&) { state.put(Key<double>{"new"}, 2.0); }, parts),
                HasSubstr("\"new\" in the client's state"));
    const Key<torch::Tensor> grid{"grid"};
    state = {{grid, torch::zeros({2})}};
    EXPECT_THAT(refusal([&](const Voters&) { state[grid].fill_(2); }, parts),
                HasSubstr("\"grid\" in the client's state"));
    EXPECT_THAT(refusal([&](const Voters&) { state[grid].accessor<float, 1>()[1] = 3; }, parts),
                HasSubstr("the client's state is written to inside of a vote"));
    state = {{kept, 1.0}};
  }
  EXPECT_TRUE(oracle.accesses().list().empty());
  EXPECT_TRUE(observed.values().empty());
  // Before and after, all of them are as ever.
  EXPECT_NO_THROW((void)oracle.noisy_sum(sums, {.numbers = 3}));
  observed.add("norm", 1);
  EXPECT_NO_THROW((void)oracle.gradient(at, {.batch_size = 8}));
}

// Or whether a run fails would tell that they are out.
TEST(Votes, OfAClientWithoutAnyExampleThatIsInAreNone) {
  const Bench bench;
  std::vector<std::vector<std::int64_t>> shards;
  for (std::int64_t example = 0; example < 40; ++example) shards.push_back({example});
  const Canaries canaries({.kind = kMislabelledCanaries, .count = 10}, 3, shards, bench.dataset.train, 4,
                          bench.model.layout()->numel());
  int out = 0;
  for (std::size_t canary = 0; canary < 10; ++canary) {
    if (canaries.in()[canary]) continue;
    ++out;
    const std::int64_t client = canaries.clients()[canary];
    const Streams streams(1, 1, client);
    RecordOracle oracle(bench.setting(),
                        torch::tensor(shards[static_cast<std::size_t>(client)], torch::kInt64), streams,
                        record_policy(1, 0), canaries.of_client(client, streams));
    EXPECT_TRUE(torch::equal(oracle.noisy_sum(sums, {.numbers = 3}), torch::zeros({1, 3}, torch::kFloat64)));
    EXPECT_EQ(oracle.accesses().list().size(), 1U);
  }
  EXPECT_GT(out, 0);
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
    EXPECT_DOUBLE_EQ(
        oracle.noisy_sum(sums, {.parts = parts, .numbers = 3, .bound = kNoClipping})[0][0].item<double>(),
        expected);
}

}  // namespace
}  // namespace fedarena
