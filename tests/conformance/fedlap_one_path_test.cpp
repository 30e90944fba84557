// FedLAP and FedLAP-DP are one path: nothing but the oracle's answers differs between a run without privacy
// and one whose mechanism neither clips nor noises.
//
// The policies answer with the same sum: "none" with that of gradients that are divided by their number
// before they are summed, "record" after. Where the number is a power of two, dividing is exact, both sums
// round alike, and the runs must be the same bits. For other numbers answers differ by their rounding.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/conformance/federations.hpp"

namespace fedarena {
namespace {

RecordPolicy without_clipping_and_noise() {
  RecordPolicy policy;
  policy.clip_norm = std::numeric_limits<double>::infinity();
  policy.noise_multiplier = 0;
  return policy;
}

class FedLapOnePath : public ::testing::Test {
 protected:
  struct Pair {
    std::unique_ptr<TestRun> none, record;
    double way = 0;  // from the initial weights, without privacy
    double difference() const { return norm((*none)->params() - (*record)->params()); }
    bool same() const { return same_bits((*none)->params(), (*record)->params()); }
  };

  Pair run(const std::string& model, torch::ScalarType dtype, const std::vector<std::int64_t>& sizes,
           const std::string& algorithm, const Settings& more = {}) {
    Settings settings{{"images_per_class", std::int64_t{2}},
                      {"trajectories", std::int64_t{2}},
                      {"outer_steps", std::int64_t{2}},
                      {"real_batches", std::int64_t{2}},
                      {"image_updates", std::int64_t{2}},
                      {"model_steps", std::int64_t{2}},
                      {"server_epochs", std::int64_t{4}},
                      {"image_rate", 1.0},
                      {"rate", 0.1},
                      {"batch_size", std::int64_t{0}}};
    settings.insert(settings.end(), more.begin(), more.end());
    task = image_task(model, {});
    task.model = std::make_shared<Model>(task.model->architecture(), dtype);
    task.partition.clear();
    std::int64_t next = 0;
    for (const std::int64_t size : sizes) {
      auto& shard = task.partition.emplace_back();
      while (std::ssize(shard) < size) shard.push_back(next++);
    }
    Pair pair{
        .none = std::make_unique<TestRun>(task, algorithm, settings, TestRunOptions{.rounds = 2}),
        .record = std::make_unique<TestRun>(
            task, algorithm, settings, TestRunOptions{.rounds = 2, .policy = without_clipping_and_noise()})};
    const Params start = (*pair.none)->params();
    pair.none->finish();
    pair.record->finish();
    pair.way = norm((*pair.none)->params() - start);
    return pair;
  }

  Task task;
};

const std::vector<std::int64_t> kPowersOfTwo = {256, 8, 128, 1};

TEST_F(FedLapOnePath, WhoseAnswersAreTheSameBitsEndsInTheSameBits) {
  for (const char* model : {"logistic", "mlp"}) {
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
      for (const char* algorithm : {"fedlap", "fedlap-dp"}) {
        SCOPED_TRACE(testing::Message() << model << ", " << dtype << ", " << algorithm);
        const Pair pair = run(model, dtype, kPowersOfTwo, algorithm);
        EXPECT_TRUE(pair.same()) << pair.difference();
        EXPECT_GT(pair.way, 0.1);
      }
    }
  }
}

// Every option that reads the examples otherwise, too.
TEST_F(FedLapOnePath, HoldsForEveryOption) {
  for (const Settings& more : std::vector<Settings>{{{"region", std::string("gradient")}},
                                                    {{"server_radius", std::string("max")}},
                                                    {{"server_descent", std::string("weighted")}},
                                                    {{"carry_images", true}},
                                                    {{"image_encoding", std::string("uint8")}},
                                                    {{"augmentation", std::string("none")}}}) {
    EXPECT_TRUE(run("logistic", torch::kFloat64, kPowersOfTwo, "fedlap", more).same()) << more[0].first;
  }
}

// Two names of one implementation.
TEST_F(FedLapOnePath, IsThatOfBothNames) {
  const Settings common{{"image_init", std::string("noise")},       {"classes", std::string("all")},
                        {"server_radius", std::string("constant")}, {"radius", 1.5},
                        {"schedule", std::string("constant")},      {"carry_images", true}};
  const Pair one = run("logistic", torch::kFloat64, kPowersOfTwo, "fedlap", common);
  const Pair other = run("logistic", torch::kFloat64, kPowersOfTwo, "fedlap-dp", common);
  EXPECT_TRUE(same_bits((*one.none)->params(), (*other.none)->params()));
}

// Rounding of 1e-16 that two rounds of matching enlarge: measured at 4e-13 of the way and less.
TEST_F(FedLapOnePath, DiffersByRoundingForOtherNumbers) {
  for (const char* algorithm : {"fedlap", "fedlap-dp"}) {
    const Pair pair = run("mlp", torch::kFloat64, {300, 7, 40, 81}, algorithm);
    EXPECT_LE(pair.difference(), 1e-10 * pair.way) << algorithm;
  }
}

}  // namespace
}  // namespace fedarena
