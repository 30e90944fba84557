// Models taught by others: the gradients by differences, FedDF where its optimum is known, and both methods
// against loops by hand.
#include "fedarena/distillation.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/autograd/autograd.h>

#include "fedarena/adam.hpp"
#include "fedarena/custom_layers.hpp"
#include "fedarena/model_averaging.hpp"

#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

class Teaching : public ::testing::Test {
 protected:
  explicit Teaching(Architecture architecture) : bench(std::move(architecture)) {}
  Teaching() : Teaching({.input_shape = {4}, .outputs = 3, .layers = {Linear{4, 5}, Relu{}, Linear{5, 3}}}) {}

  torch::Tensor inputs(std::int64_t count, std::uint64_t seed = 1) const {
    return random_batch(bench.model, count, seed).inputs;
  }
  // Clients with so many examples, whose models are `teachers`.
  CohortUplink sent_by(const std::vector<Params>& teachers, const Params& start,
                       const std::vector<std::int64_t>& examples) const {
    std::vector<Message> messages;
    for (std::size_t i = 0; i < teachers.size(); ++i)
      messages.push_back({{kUpdate, teachers[i] - start}, {kExamples, examples[i]}});
    return CohortUplink(std::move(messages));
  }
  // Where they take the server from `start`, in the only round.
  Params aggregated(const Algorithm& algorithm, const Params& start, const Uplink& uplink,
                    const torch::Tensor& proxy = {}) {
    LoneServer lone{.params = start, .proxy = proxy, .pixel_range = pixel_range};
    Server server = bench.server(lone, 1, 1, uplink.size());
    algorithm.start(server);
    algorithm.aggregate(server, uplink);
    synthetic = lone.synthetic;
    return lone.params;
  }

  // Of what both teachers say.
  torch::Tensor mean_outputs(const torch::Tensor& seen) const {
    return (bench.model.forward(teachers[0], seen) + bench.model.forward(teachers[1], seen)) / 2;
  }

  void expect_gradients() {
    const Params student = random_params(bench.model, 7);
    const torch::Tensor seen = inputs(6), mean = mean_outputs(seen);
    for (const double temperature : {1.0, 3.0}) {
      const Distillation distillation(bench.model, bench.compute, teachers, temperature);
      EXPECT_LE(largest_difference(distillation.mean_outputs(seen), mean), 1e-14);
      const torch::Tensor log_p = torch::log_softmax(mean / temperature, 1);
      const torch::Tensor expected = central_differences(student.flat(), [&] {
        const torch::Tensor log_q = torch::log_softmax(bench.model.forward(student, seen) / temperature, 1);
        return temperature * temperature * (log_p.exp() * (log_p - log_q)).sum(1).mean().item<double>();
      });
      const Params actual = distillation.gradient(student, {seen, mean});
      EXPECT_GT(norm(actual), 1e-2);
      EXPECT_LE(largest_difference(actual.flat(), expected), 1e-8) << temperature;
    }
  }

  Workbench bench;
  const std::vector<Params> teachers{random_params(bench.model, 5), random_params(bench.model, 6)};
  Batch synthetic;
  torch::Tensor pixel_range;
};

TEST_F(Teaching, GradientIsThatOfTheDivergenceAtEveryTemperature) { expect_gradients(); }

// No affine map at the end whose weights could be divided by T.
class TeachingOfBounded : public Teaching {
 protected:
  TeachingOfBounded() : Teaching({.input_shape = {4}, .outputs = 3, .layers = {Linear{4, 3}, tanh()}}) {}
};

TEST_F(TeachingOfBounded, GradientIsThatOfTheDivergenceAtEveryTemperature) { expect_gradients(); }

TEST_F(Teaching, LeavesOutTeachersWithoutExamples) {
  const Params start = random_params(bench.model, 4), other = random_params(bench.model, 5);
  const std::vector<Params> models = decode_models(sent_by({start, other, start}, start, {0, 3, 0}), start);
  ASSERT_EQ(models.size(), 1U);
  EXPECT_LE(norm(models[0] - other), 1e-14);
}

class FedDfOnALine : public Teaching {
 protected:
  FedDfOnALine()
      : Teaching({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}, .loss = Loss::kSquaredError}) {}
};

// Outputs are linear in the parameters, so that the student of least squared distance from the mean outputs
// is the mean of the teachers, each alike, wherever the weighted average begins.
TEST_F(FedDfOnALine, EndsAtTheMeanOfTheTeachers) {
  const std::vector<Params> three{random_params(bench.model, 5), random_params(bench.model, 6),
                                  random_params(bench.model, 7)};
  const Params start = random_params(bench.model, 8);
  const Params mean = (1.0 / 3) * (three[0] + three[1] + three[2]);
  const CohortUplink uplink = sent_by(three, start, {80, 15, 5});
  const auto algorithm = plugins().create(
      "feddf", {{"distillation_steps", 1500}, {"distillation_batch_size", 16}, {"distillation_rate", 0.02}});
  EXPECT_GT(norm(start + uplink.mean(kUpdate, kExamples) - mean), 0.3);
  EXPECT_LE(norm(aggregated(*algorithm, start, uplink, inputs(40)) - mean), 1e-6);
}

TEST_F(Teaching, OfFedDfTakesStepsOfAdamAlongACosine) {
  const Params start = random_params(bench.model, 8);
  const torch::Tensor proxy = inputs(6, 9);
  const auto algorithm = plugins().create(
      "feddf", {{"distillation_steps", 3}, {"distillation_batch_size", 4}, {"distillation_rate", 0.1}});
  Params expected = 0.75 * teachers[0] + 0.25 * teachers[1];
  // Six examples in batches of four: a whole one, a short one, and one of the next pass.
  Stream shuffles = Streams(1, 1, kServer)(Purpose::kSynthetic);
  const torch::Tensor first = torch::tensor(shuffles.permutation(6)),
                      second = torch::tensor(shuffles.permutation(6));
  Adam adam;
  for (int step = 0; step < 3; ++step) {
    const torch::Tensor positions =
        step == 2 ? second.narrow(0, 0, 4) : first.narrow(0, 4 * step, step == 0 ? 4 : 2);
    const torch::Tensor seen = proxy.index_select(0, positions);
    const Params gradient = bench.model.gradient(expected, {seen, torch::softmax(mean_outputs(seen), 1)});
    adam.step(expected, gradient, 0.1 * (1 + std::cos(std::numbers::pi * step / 3)) / 2);
  }
  const Params actual = aggregated(*algorithm, start, sent_by(teachers, start, {3, 1}), proxy);
  EXPECT_LE(norm(actual - expected), 1e-12);
}

class DenseByHand : public Teaching {
 protected:
  DenseByHand()
      : Teaching({.input_shape = {1, 4, 8},
                  .outputs = 3,
                  .layers = {Flatten{}, Linear{32, 5}, Relu{}, Linear{5, 3}}}) {
    pixel_range = torch::tensor({{-0.5}, {2.0}}, torch::kFloat64);
  }
};

// Two epochs of two steps of a generator, differentiated by LibTorch from end to end; the second pool has two
// batches, each of which the student takes a step on.
TEST_F(DenseByHand, IsTheLoopOfThePaper) {
  constexpr std::int64_t kNoise = 3, kBatch = 5, kWidth = 2;
  constexpr double kTemperature = 4, kRate = 0.05, kLabels = 0.7, kAdversarial = 1.5;
  const Model generator(
      {.input_shape = {kNoise},
       .outputs = 32,
       .layers = {Linear{kNoise, 8}, reshape({4, 1, 2}), GroupNorm{1, 4}, upsample(2), Conv2d{4, 4, 3, 1},
                  GroupNorm{1, 4}, leaky_relu(0.2), upsample(2), Conv2d{4, kWidth, 3, 1},
                  GroupNorm{1, kWidth}, leaky_relu(0.2), Conv2d{kWidth, 1, 3, 1}, sigmoid(), Flatten{}}},
      torch::kFloat64);
  const Params start = random_params(bench.model, 8);
  const Streams streams(1, 1, kServer);
  Stream draws = streams(Purpose::kSynthetic, 0), shuffles = streams(Purpose::kSynthetic, 1);
  Params student = start, velocity = zeros_like(start);
  torch::Tensor pool;
  std::vector<double> objectives;
  for (int epoch = 0; epoch < 2; ++epoch) {
    torch::Tensor weights = generator.initial(draws).flat().clone(), noise = normal(draws, {kBatch, kNoise});
    torch::Tensor labels = torch::empty({kBatch}, torch::kInt64);
    for (std::int64_t i = 0; i < kBatch; ++i) labels[i] = static_cast<std::int64_t>(draws.below(3));
    Adam of_weights({.beta1 = 0.5}), of_noise({.beta1 = 0.5});
    double least = kInfinity;
    torch::Tensor best;
    for (int step = 0; step < 2; ++step) {
      const torch::Tensor w = weights.clone().requires_grad_(), z = noise.clone().requires_grad_();
      const torch::Tensor images =
          generator.forward({generator.layout(), w}, z).view({kBatch, 1, 4, 8}) * 2.5 - 0.5;
      const torch::Tensor taught = mean_outputs(images), said = bench.model.forward(student, images);
      const torch::Tensor log_p = torch::log_softmax(taught, 1), log_q = torch::log_softmax(said, 1);
      const torch::Tensor differs = taught.argmax(1).ne(said.argmax(1)).to(torch::kFloat64);
      const torch::Tensor loss = kLabels * -log_p.gather(1, labels.unsqueeze(1)).mean() -
                                 kAdversarial * ((log_p.exp() * (log_p - log_q)).sum(1) * differs).mean();
      if (loss.item<double>() < least) {
        least = loss.item<double>();
        best = images.detach();
      }
      const auto slopes = torch::autograd::grad({loss}, {w, z});
      of_weights.step(weights, slopes[0], 1e-2);
      of_noise.step(noise, slopes[1], 1e-2);
    }
    objectives.push_back(least);
    pool = pool.defined() ? torch::cat({pool, best}) : best;
    const torch::Tensor order = torch::tensor(shuffles.permutation(pool.size(0)));
    for (std::int64_t first = 0; first < pool.size(0); first += kBatch) {
      const torch::Tensor seen = pool.index_select(0, order.narrow(0, first, kBatch));
      const torch::Tensor flat = student.flat().clone().requires_grad_();
      const torch::Tensor log_q =
          torch::log_softmax(bench.model.forward({student.layout(), flat}, seen) / kTemperature, 1);
      const torch::Tensor loss = -kTemperature * kTemperature *
                                 (torch::softmax(mean_outputs(seen) / kTemperature, 1) * log_q).sum(1).mean();
      velocity *= 0.9;
      velocity += Params(student.layout(), torch::autograd::grad({loss}, {flat})[0]);
      student.add_scaled(-kRate, velocity);
    }
  }
  const auto algorithm = plugins().create("dense", {{"server_epochs", 2},
                                                    {"generator_steps", 2},
                                                    {"generator_rate", 1e-2},
                                                    {"generator_width", kWidth},
                                                    {"noise_size", kNoise},
                                                    {"synthetic_batch_size", kBatch},
                                                    {"label_weight", kLabels},
                                                    {"adversarial_weight", kAdversarial},
                                                    {"temperature", kTemperature},
                                                    {"student_rate", kRate}});
  EXPECT_GT(norm(student - start), 1e-2);
  EXPECT_LE(norm(aggregated(*algorithm, start, sent_by(teachers, start, {3, 1})) - student), 1e-9);
  EXPECT_LE(largest_difference(synthetic.inputs, pool.narrow(0, kBatch, kBatch)), 1e-9);
  EXPECT_NEAR(bench.observed_mean("generator-loss"), (objectives[0] + objectives[1]) / 2, 1e-9);
}

TEST_F(DenseByHand, KeepsTheNewestImagesAlone) {
  const Settings few{{"server_epochs", 3}, {"generator_steps", 1},      {"generator_width", 1},
                     {"noise_size", 2},    {"synthetic_batch_size", 4}, {"student_momentum", 0.0}};
  const Params start = random_params(bench.model, 8);
  const CohortUplink uplink = sent_by({teachers[0]}, start, {3});
  const auto gradients = [&](std::int64_t pool_batches) {
    const std::int64_t before = bench.engine.work().gradients;
    aggregated(*plugins().create("dense", joined(few, {{"pool_batches", pool_batches}})), start, uplink);
    return bench.engine.work().gradients - before;
  };
  // Each epoch asks student and teacher for four images' gradients, and the student for those of the pool.
  EXPECT_EQ(gradients(10), 3 * 2 * 4 + (4 + 8 + 12));
  EXPECT_EQ(gradients(2), 3 * 2 * 4 + (4 + 8 + 8));
}

TEST_F(Teaching, OfDenseNeedsImages) {
  const auto algorithm = plugins().create("dense", {});
  const std::string refusal = message_of([&] { bench.start(*algorithm, 2, 1); });
  EXPECT_THAT(refusal, HasSubstr("images whose height and width are multiples of 4"));
}

}  // namespace
}  // namespace fedarena
