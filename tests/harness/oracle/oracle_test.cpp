#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/oracle/bench.hpp"

namespace fedarena {
namespace {

std::vector<std::pair<std::string, std::int64_t>> written(const ExactOracle& oracle) {
  std::vector<std::pair<std::string, std::int64_t>> list;
  for (const Access& access : oracle.accesses().list()) {
    list.emplace_back(std::get<ExactAccess>(access.event).what, access.count);
  }
  return list;
}

using Written = std::vector<std::pair<std::string, std::int64_t>>;

TEST(Oracle, WritesDownEveryAccess) {
  const Bench bench;
  ExactOracle oracle = bench.exact(range(0, 10));
  EXPECT_EQ(written(oracle), Written{});
  for (int i = 0; i < 3; ++i) (void)oracle.gradient(bench.at(), {.batch_size = 4});
  (void)oracle.gradient(bench.at(), {.batch_size = 0});
  (void)oracle.loss(bench.at());
  (void)oracle.label_counts();
  (void)oracle.label_counts();
  (void)oracle.exact_batch();
  (void)oracle.gradient(bench.at(), {.batch_size = 4});
  EXPECT_EQ(written(oracle),
            (Written{{"gradient", 4}, {"loss", 1}, {"label counts", 2}, {"examples", 1}, {"gradient", 1}}));
}

TEST(Oracle, WritesNothingForWhatIsPublic) {
  const Bench bench;
  const ExactOracle oracle = bench.exact(range(0, 10));
  EXPECT_EQ(oracle.size(), 10);
  EXPECT_EQ(oracle.steps_per_epoch(3), 4);
  EXPECT_EQ(written(oracle), Written{});
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

}  // namespace
}  // namespace fedarena
