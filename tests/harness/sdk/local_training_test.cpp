// The local SGD that all algorithms share, against loops over plain numbers.
#include "fedarena/local_training.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/sdk/open_shard.hpp"

namespace fedarena {
namespace {

// Loss 1/2 sum a_i (x_i - b_i)^2, the same for every batch; notes the batch sizes that were asked for.
class Bowl final : public NoExamples {
 public:
  explicit Bowl(std::int64_t examples) : examples_(examples) {}
  Params gradient(const Params& at, const Query& query) override {
    batch_sizes.push_back(query.batch_size);
    const double rows[] = {(at.flat()[0].item<double>() - 3) * 2, (at.flat()[1].item<double>() + 1) * 0.5};
    return {at.layout(), torch::tensor({rows[0], rows[1]}, torch::kFloat64)};
  }
  std::int64_t steps_per_epoch(std::int64_t batch_size) const override {
    return batch_size == 0 ? 1 : (examples_ + batch_size - 1) / batch_size;
  }
  std::int64_t size() const override { return examples_; }

  std::vector<std::int64_t> batch_sizes;

 private:
  std::int64_t examples_;
};

LocalTraining config_of(const Settings& settings) { return LocalTraining::schema().read(settings); }

const Architecture kTwoNumbers{.input_shape = {1}, .outputs = 1, .layers = {Linear{1, 1}}};

struct Trained {
  double x[2];
  std::vector<std::int64_t> batch_sizes;
};

Trained train(const LocalTraining& config, const Correction& correct = {}, std::int64_t round = 1,
              std::int64_t examples = 10) {
  const Model model(kTwoNumbers, torch::kFloat64);
  const Params start(model.layout(), torch::tensor({1.0, 2.0}, torch::kFloat64));
  Bowl oracle(examples);
  Message state;
  const NoCompute compute;
  Observations observed;
  Client client{.id = 0,
                .round = round,
                .rounds = 11,
                .oracle = oracle,
                .state = state,
                .model = model,
                .compute = compute,
                .streams = Streams(0, round, 0),
                .observed = observed};
  const Params trained = train_locally(client, start, config, correct);
  EXPECT_EQ(start.flat()[0].item<double>(), 1.0);
  return {{trained.flat()[0].item<double>(), trained.flat()[1].item<double>()}, oracle.batch_sizes};
}

// As torch.optim.SGD documents it: g += decay x; v = momentum v + g; x -= rate v.
Trained expected(double rate, int steps, double momentum, double decay, double pull = 0) {
  const double slope[] = {2, 0.5}, centre[] = {3, -1}, start[] = {1, 2};
  Trained result{{1, 2}, {}};
  for (int i = 0; i < 2; ++i) {
    double velocity = 0;
    for (int step = 0; step < steps; ++step) {
      double& x = result.x[i];
      const double gradient = slope[i] * (x - centre[i]) + decay * x + pull * (x - start[i]);
      velocity = step == 0 ? gradient : momentum * velocity + gradient;
      x -= rate * velocity;
    }
  }
  return result;
}

void expect_near(const Trained& trained, const Trained& wanted) {
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(trained.x[i], wanted.x[i], 1e-13);
}

TEST(TrainLocally, MakesTheStepsOfPlainSgd) {
  for (const int steps : {1, 2, 17}) {
    for (const double momentum : {0.0, 0.9}) {
      for (const double decay : {0.0, 0.3}) {
        const LocalTraining config = config_of(
            {{"local_steps", steps}, {"rate", 0.1}, {"momentum", momentum}, {"weight_decay", decay}});
        expect_near(train(config), expected(0.1, steps, momentum, decay));
      }
    }
  }
}

TEST(TrainLocally, CorrectsEveryGradient) {
  const LocalTraining config = config_of({{"local_steps", 6}, {"momentum", 0.5}, {"weight_decay", 0.2}});
  const auto pull = [](const Params& local, Params& gradient) {
    gradient.add_scaled(1.5, local);
    gradient.add_scaled(-1.5, Params(local.layout(), torch::tensor({1.0, 2.0}, torch::kFloat64)));
  };
  expect_near(train(config, pull), expected(config.rate, 6, 0.5, 0.2, 1.5));
}

TEST(TrainLocally, UsesTheRateOfTheRound) {
  const LocalTraining config = config_of({{"local_steps", 3}, {"schedule", "cosine"}});
  expect_near(train(config, {}, 6), expected(config.rate / 2, 3, 0, 0));
}

TEST(TrainLocally, AsksForBatchesOfTheConfiguredSize) {
  LocalTraining config = config_of({{"local_epochs", 2}, {"batch_size", 4}});
  EXPECT_EQ(train(config).batch_sizes, std::vector<std::int64_t>(6, 4));  // 10 examples: 3 batches an epoch
  config.batch_size = 0;
  EXPECT_EQ(train(config).batch_sizes, std::vector<std::int64_t>(2, 0));
  config.local_steps = 5;
  EXPECT_EQ(train(config).batch_sizes, std::vector<std::int64_t>(5, 0));
}

TEST(TrainLocally, LeavesTheModelOfAnEmptyShard) {
  LocalTraining config;
  const Trained trained = train(config, {}, 1, 0);
  EXPECT_TRUE(trained.batch_sizes.empty());
  EXPECT_EQ(trained.x[0], 1);
}

TEST(Schedule, ConstantIsConstant) {
  const LocalTraining config;
  for (const std::int64_t round : {1, 2, 50}) EXPECT_EQ(config.rate_in(round, 50), config.rate);
}

TEST(Schedule, CosineFallsFromTheRateToTheMinimum) {
  LocalTraining config = config_of({{"schedule", "cosine"}, {"rate", 0.4}});
  EXPECT_EQ(config.rate_in(1, 101), 0.4);
  EXPECT_NEAR(config.rate_in(26, 101), 0.2 * (1 + std::cos(std::numbers::pi / 4)), 1e-15);
  EXPECT_NEAR(config.rate_in(51, 101), 0.2, 1e-15);
  EXPECT_EQ(config.rate_in(101, 101), config.minimum_rate);
  EXPECT_EQ(config.rate_in(1, 1), 0.4);
  for (std::int64_t round = 2; round <= 101; ++round) {
    EXPECT_LT(config.rate_in(round, 101), config.rate_in(round - 1, 101));
  }
  config.minimum_rate = 0.3;
  EXPECT_EQ(config.rate_in(60, 101), 0.3);
  config.rate = 0.1;  // a minimum raises no rate above its own
  EXPECT_EQ(config.rate_in(1, 101), 0.1);
  EXPECT_EQ(config.rate_in(60, 101), 0.1);
}

TEST(Schedule, StepDecaysEveryFewRounds) {
  const LocalTraining config =
      config_of({{"schedule", "step"}, {"rate", 0.8}, {"schedule_step", 10}, {"schedule_factor", 0.5}});
  for (const auto& [round, rate] : std::vector<std::pair<std::int64_t, double>>{
           {1, 0.8}, {10, 0.8}, {11, 0.4}, {20, 0.4}, {21, 0.2}, {31, 0.1}}) {
    EXPECT_DOUBLE_EQ(config.rate_in(round, 100), rate) << round;
  }
}

TEST(LocalTraining, RefusesWhatMakesNoSense) {
  const Schema<LocalTraining> schema = LocalTraining::schema();
  for (const Settings& wrong : std::vector<Settings>{{{"rate", 0.0}},
                                                     {{"rate", -1.0}},
                                                     {{"local_epochs", 0}},
                                                     {{"local_steps", -1}},
                                                     {{"batch_size", -1}},
                                                     {{"momentum", 1.1}},
                                                     {{"momentum", -0.1}},
                                                     {{"weight_decay", -0.1}},
                                                     {{"schedule", "sine"}},
                                                     {{"schedule_step", 0}},
                                                     {{"lr", 0.1}}}) {
    EXPECT_THROW(schema.read(wrong), Error) << wrong.front().first;
  }
  EXPECT_EQ(schema.read({}).rate, LocalTraining().rate);
  EXPECT_EQ(schema.read({{"rate", 1}}).rate, 1.0);
}

}  // namespace
}  // namespace fedarena
