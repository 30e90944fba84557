// Dataset condensation against loops by hand, and the federation that it asks for.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/matching.hpp"
#include "fedarena/synthetic_sets.hpp"

#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

std::string dsc_text(const char* value) { return value; }

class Dsc : public ::testing::Test {
 protected:
  Dsc() {
    Stream stream({.seed = 4});
    examples = {normal(stream, {5, 1, 3, 3}), torch::tensor({2, 0, 0, 2, 2}, torch::kInt64)};
  }

  Batch of_class(const Batch& from, std::int64_t label) const {
    return from.select(from.targets.eq(label).nonzero().flatten());
  }

  Batch train(const Settings& settings) {
    OpenShard shard(bench.model, examples);
    const Batch set = decode_set(bench.train(*plugins().create("dsc", settings), shard, {}), torch::kFloat64);
    accesses = shard.accesses;
    return set;
  }

  Workbench bench{
      {.input_shape = {1, 3, 3}, .outputs = 3, .layers = {Conv2d{1, 2, 3, 1}, Flatten{}, Linear{18, 3}}}};
  Batch examples;
  std::vector<std::string> accesses;
};

TEST_F(Dsc, RefusesAFederation) {
  const auto algorithm = plugins().create("dsc", {});
  bench.start(*algorithm, 1, 1);
  for (const auto& [population, rounds] : {std::pair(2, 1), std::pair(1, 3)}) {
    try {
      bench.start(*algorithm, population, rounds);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  ::testing::HasSubstr(fmt::format("clients = {} and rounds = {}", population, rounds)));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("one client and one round"));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("set partition.clients = 1 and experiment.rounds = 1"));
    }
  }
}

// Two models, two points each, one epoch of one batch between them; derivatives by differences.
TEST_F(Dsc, MatchesTheGradientsOfEachClassAlongTheWayOfEachModel) {
  constexpr double kImageRate = 0.05, kImageMomentum = 0.5, kRate = 0.1, kMomentum = 0.7;
  const GradientMatching cosine{.criterion = "cosine"};
  const Streams streams = Workbench::client_streams();
  Stream noise = streams(Purpose::kSynthetic), weights = streams(Purpose::kSynthetic, 1);
  Batch set{normal(noise, {4, 1, 3, 3}), torch::tensor({0, 0, 2, 2}, torch::kInt64)};
  torch::Tensor velocity = torch::zeros_like(set.inputs);
  for (int initialisation = 0; initialisation < 2; ++initialisation) {
    Params model = bench.model.initial(weights), model_velocity = zeros_like(model);
    for (int point = 0; point < 2; ++point) {
      if (point > 0) {
        model_velocity = kMomentum * model_velocity + bench.model.gradient(model, set);
        model -= kRate * model_velocity;
      }
      const torch::Tensor slope = central_differences(set.inputs, [&] {
        double sum = 0;
        for (const std::int64_t label : {0, 2}) {
          sum += matching_distance(bench.model.gradient(model, of_class(set, label)),
                                   bench.model.gradient(model, of_class(examples, label)), cosine)
                     .value;
        }
        return sum;
      });
      EXPECT_GT(slope.abs().max().item<double>(), 1e-3);
      velocity = kImageMomentum * velocity + slope;
      set.inputs = set.inputs - kImageRate * velocity;
    }
  }
  const Batch reached = train({{"initialisations", std::int64_t{2}},
                               {"outer_steps", std::int64_t{2}},
                               {"model_epochs", std::int64_t{1}},
                               {"batch_size", std::int64_t{0}},
                               {"images_per_class", std::int64_t{2}},
                               {"image_init", dsc_text("noise")},
                               {"augmentation", dsc_text("none")},
                               {"image_rate", kImageRate},
                               {"rate", kRate},
                               {"momentum", kMomentum}});
  EXPECT_TRUE(reached.targets.equal(set.targets));
  EXPECT_LE((reached.inputs - set.inputs).abs().max().item<double>(), 1e-7);
  EXPECT_EQ(accesses, (std::vector<std::string>{"classes", "examples"}));
}

// Both sides see the same augmentation: nothing is left to do for a set that is the examples.
TEST_F(Dsc, LeavesASetThatIsTheExamples) {
  examples = {examples.inputs.narrow(0, 0, 4), torch::tensor({2, 0, 0, 2}, torch::kInt64)};
  const Batch set = train({{"initialisations", std::int64_t{3}},
                           {"outer_steps", std::int64_t{3}},
                           {"model_epochs", std::int64_t{1}},
                           {"batch_size", std::int64_t{0}},
                           {"images_per_class", std::int64_t{2}},
                           {"image_rate", 0.5}});
  const torch::Tensor expected = examples.inputs.index_select(0, torch::tensor({1, 2, 0, 3}, torch::kInt64));
  EXPECT_LE((set.inputs - expected).abs().max().item<double>(), 1e-10);
}

TEST_F(Dsc, TrainsTheServerOnTheSet) {
  constexpr double kRate = 0.1, kMomentum = 0.9, kDecay = 0.01;
  constexpr int kEpochs = 5;
  const Batch set = random_batch(bench.model, 6);
  Stream stream({.seed = 8});
  const Params start = bench.model.initial(stream);
  Params expected = start, velocity = zeros_like(start);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    velocity = kMomentum * velocity + bench.model.gradient(expected, set) + kDecay * expected;
    expected -= (epoch < 3 ? kRate : kRate / 10) * velocity;
  }
  const auto algorithm = plugins().create("dsc", {{"augmentation", dsc_text("none")},
                                                  {"rate", kRate},
                                                  {"server_epochs", std::int64_t{kEpochs}},
                                                  {"server_momentum", kMomentum},
                                                  {"server_weight_decay", kDecay}});
  const Message sent{{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, std::int64_t{6}}};
  EXPECT_LE(norm(bench.aggregate(*algorithm, start, {sent}) - expected), 1e-12);
  EXPECT_GT(norm(expected - start), 0.1);
  EXPECT_EQ(norm(bench.aggregate(*algorithm, start, {}) - start), 0);
}

}  // namespace
}  // namespace fedarena
