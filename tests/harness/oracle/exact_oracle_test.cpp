#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/oracle/bench.hpp"

namespace fedarena {
namespace {

TEST(Oracle, WritesDownEveryAccess) {
  const Bench bench;
  ExactOracle oracle = bench.exact(range(0, 10));
  EXPECT_TRUE(oracle.accesses().list().empty());
  for (int i = 0; i < 3; ++i) (void)oracle.gradient(bench.at(), {.batch_size = 4});
  (void)oracle.gradient(bench.at(), {.batch_size = 0});
  (void)oracle.loss(bench.at());
  (void)oracle.label_counts();
  (void)oracle.label_counts();
  (void)oracle.exact_batch();
  (void)oracle.gradient(bench.at(), {.batch_size = 4});
  EXPECT_EQ(oracle.accesses().list(), (std::vector<Access>{{ExactAccess{"gradient"}, 4},
                                                           {ExactAccess{"loss"}, 1},
                                                           {ExactAccess{"label counts"}, 2},
                                                           {ExactAccess{"examples"}, 1},
                                                           {ExactAccess{"gradient"}, 1}}));
}

TEST(Oracle, WritesNothingForWhatIsPublic) {
  const Bench bench;
  const ExactOracle oracle = bench.exact(range(0, 10));
  EXPECT_EQ(oracle.size(), 10);
  EXPECT_EQ(oracle.steps_per_epoch(3), 4);
  EXPECT_TRUE(oracle.accesses().list().empty());
}

TEST(Oracle, AnswersForItsShardAlone) {
  const Bench bench;
  const std::vector<std::int64_t> shard{3, 17, 20, 38, 5};
  ExactOracle oracle = bench.exact(shard);
  const Batch examples = bench.reader.read(bench.dataset.train, torch::tensor(shard));
  EXPECT_NEAR(oracle.loss(bench.at()), bench.model.loss(bench.at(), examples).item<double>(), 1e-14);
  EXPECT_TRUE(torch::equal(oracle.exact_batch().inputs, examples.inputs));
  EXPECT_TRUE(torch::equal(oracle.exact_batch().targets, examples.targets));
  EXPECT_TRUE(torch::equal(oracle.label_counts(), torch::tensor({1, 2, 1, 1})));  // labels 3, 1, 0, 2, 1
}

TEST(Oracle, GivesZeroForAnEmptyShard) {
  const Bench bench;
  ExactOracle oracle = bench.exact({});
  EXPECT_EQ(norm(oracle.gradient(bench.at(), {.batch_size = 4})), 0);
  EXPECT_EQ(norm(oracle.gradient(bench.at(), {.batch_size = 0})), 0);
  EXPECT_EQ(oracle.loss(bench.at()), 0);
  EXPECT_EQ(oracle.exact_batch().size(), 0);
  EXPECT_TRUE(torch::equal(oracle.label_counts(), torch::zeros({4}, torch::kInt64)));
  EXPECT_EQ(oracle.steps_per_epoch(4), 0);
  EXPECT_EQ(oracle.gradient_examples(), 0);
}

TEST(Oracle, StopsWhenItIsTold) {
  Bench bench;
  ExactOracle oracle = bench.exact(range(0, 10));
  (void)oracle.gradient(bench.at(), {.batch_size = 4});
  bench.stop = true;
  EXPECT_THROW(oracle.gradient(bench.at(), {.batch_size = 4}), Interrupted);
  EXPECT_THROW(oracle.loss(bench.at()), Interrupted);
}

TEST(Oracle, HasNoLabelCountsInARegression) {
  Bench bench;
  bench.dataset.train.targets = torch::zeros({40, 4}, torch::kFloat64);
  bench.dataset.classes = 0;
  ExactOracle oracle = bench.exact(range(0, 10));
  EXPECT_THROW(oracle.label_counts(), Error);
}

TEST(Oracle, HandsOutCopiesOfItsExamples) {
  const Bench bench;
  ExactOracle oracle = bench.exact(range(0, 10));
  const double before = oracle.loss(bench.at());
  oracle.exact_batch().inputs.fill_(0);
  EXPECT_EQ(oracle.loss(bench.at()), before);
}

// Which examples a batch holds. A batch is recognised by its gradient: with one example a batch, only that
// example's gradient comes back.

using Order = std::vector<std::int64_t>;

class Batches : public ::testing::Test {
 protected:
  /// The mean gradient over those examples, by one pass.
  Params gradient_of(const Order& examples) const {
    return bench.model.gradient(
        at, bench.reader.read(bench.dataset.train, torch::tensor(examples, torch::kInt64)));
  }
  /// The number of the example whose gradient that is.
  std::int64_t example_of(const Params& gradient) const {
    for (std::int64_t example = 0; example < 40; ++example) {
      if (norm(gradient - gradient_of({example})) < 1e-13) return example;
    }
    return -1;
  }
  Order deal(ExactOracle& oracle, std::int64_t count) const {
    Order order;
    for (std::int64_t i = 0; i < count; ++i)
      order.push_back(example_of(oracle.gradient(at, {.batch_size = 1})));
    return order;
  }
  Order first_epoch(const Streams& streams) const {
    ExactOracle oracle = bench.exact(range(10, 12), streams);
    return deal(oracle, 12);
  }

  Bench bench;
  Params at = bench.at();
};

TEST_F(Batches, DealEveryExampleOnceAnEpoch) {
  ExactOracle oracle = bench.exact(range(10, 12));
  std::set<Order> orders;
  for (int epoch = 0; epoch < 5; ++epoch) {
    Order order = deal(oracle, 12);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, range(10, 12));
  }
  EXPECT_EQ(orders.size(), 5U);  // equal by chance: 10 / 12!, that is 2e-8
}

TEST_F(Batches, ComeInAnOrderNamedBySeedRoundAndClient) {
  const Order order = first_epoch(Streams(1, 2, 3));
  EXPECT_EQ(first_epoch(Streams(1, 2, 3)), order);
  EXPECT_NE(first_epoch(Streams(2, 2, 3)), order);
  EXPECT_NE(first_epoch(Streams(1, 3, 3)), order);
  EXPECT_NE(first_epoch(Streams(1, 2, 4)), order);
}

TEST_F(Batches, EndAnEpochWithAShortOne) {
  ExactOracle dealt = bench.exact(range(0, 11)), singly = bench.exact(range(0, 11));
  EXPECT_EQ(dealt.steps_per_epoch(4), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    const Order order = deal(singly, 11);
    const std::vector<Order> batches{{order.begin(), order.begin() + 4},
                                     {order.begin() + 4, order.begin() + 8},
                                     {order.begin() + 8, order.end()}};
    for (const Order& batch : batches) {
      EXPECT_LE(norm(dealt.gradient(at, {.batch_size = 4}) - gradient_of(batch)), 1e-13);
    }
  }
  EXPECT_EQ(dealt.gradient_examples(), 22);
}

TEST_F(Batches, OfTheWholeShardDisturbNoEpoch) {
  ExactOracle oracle = bench.exact(range(10, 12)), plain = bench.exact(range(10, 12));
  Order order = deal(oracle, 5);
  EXPECT_LE(norm(oracle.gradient(at, {.batch_size = 0}) - gradient_of(range(10, 12))), 1e-13);
  (void)oracle.loss(at);
  (void)oracle.exact_batch();
  const Order rest = deal(oracle, 7);
  order.insert(order.end(), rest.begin(), rest.end());
  EXPECT_EQ(order, deal(plain, 12));
}

TEST_F(Batches, AreNotLargerThanTheShard) {
  ExactOracle oracle = bench.exact(range(3, 5));
  EXPECT_EQ(oracle.steps_per_epoch(100), 1);
  EXPECT_LE(norm(oracle.gradient(at, {.batch_size = 100}) - gradient_of(range(3, 5))), 1e-13);
  EXPECT_EQ(oracle.gradient_examples(), 5);
}

TEST_F(Batches, AreCountedInStepsAnEpoch) {
  const ExactOracle oracle = bench.exact(range(0, 12));
  EXPECT_EQ(oracle.steps_per_epoch(0), 1);
  EXPECT_EQ(oracle.steps_per_epoch(1), 12);
  EXPECT_EQ(oracle.steps_per_epoch(5), 3);
  EXPECT_EQ(oracle.steps_per_epoch(6), 2);
  EXPECT_EQ(oracle.steps_per_epoch(12), 1);
}

}  // namespace
}  // namespace fedarena
