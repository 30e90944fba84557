// FedLAP's post-hoc magnitude calibration (Equation 20).
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/synthetic_sets.hpp"

#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

constexpr Key<torch::Tensor> kNorms{"norms"};

std::string fedlap_calibration_text(const char* value) { return value; }

class FedLapCalibration : public ::testing::Test {
 protected:
  static Settings settings(const Settings& more) {
    Settings all{{"server_calibration", true},
                 {"server_descent", fedlap_calibration_text("weighted")},
                 {"server_radius", fedlap_calibration_text("none")},
                 {"augmentation", fedlap_calibration_text("none")}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Message message(const Batch& set, std::int64_t count, const torch::Tensor& norms) {
    return {{kImages, set.inputs}, {kLabels, set.targets}, {kExamples, count}, {kNorms, norms}};
  }

  Workbench bench{
      {.input_shape = {1, 2, 2}, .outputs = 3, .layers = {Flatten{}, Linear{4, 5}, Relu{}, Linear{5, 3}}}};
};

TEST_F(FedLapCalibration, StretchesEachTensorOfEachClientsGradient) {
  constexpr double kRate = 0.1;
  constexpr int kSteps = 3;
  Stream stream({.seed = 6});
  const Params start = bench.model.initial(stream);
  const std::vector<Batch> sets{random_batch(bench.model, 4, 1), random_batch(bench.model, 3, 2)};
  const std::vector<std::vector<double>> lengths{{0.5, 0.25, 2, 1}, {3, 0.125, 0.0, 0.75}};
  const std::vector<double> shares{0.75, 0.25};

  Params expected = start;
  for (int step = 0; step < kSteps; ++step) {
    Params direction = zeros_like(start);
    for (std::size_t client = 0; client < sets.size(); ++client) {
      const Params gradient = bench.model.gradient(expected, sets[client]);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double length = std::sqrt(gradient[i].square().sum().item<double>());
        direction[i].add_(gradient[i], shares[client] * lengths[client][i] / length);
      }
    }
    expected -= kRate * direction;
  }
  const auto algorithm =
      plugins().create("fedlap", settings({{"rate", kRate}, {"server_epochs", std::int64_t{kSteps}}}));
  const Params reached = bench.aggregate(*algorithm, start,
                                         {message(sets[0], 30, torch::tensor(lengths[0], torch::kFloat64)),
                                          message(sets[1], 10, torch::tensor(lengths[1], torch::kFloat64))});
  EXPECT_LE(norm(reached - expected), 1e-12);
  EXPECT_GT(norm(expected - start), 0.1);
}

// Norms that are those of the set itself change nothing in the first step.
TEST_F(FedLapCalibration, IsNothingForASetOfTheRightLength) {
  Stream stream({.seed = 6});
  const Params start = bench.model.initial(stream);
  const Batch set = random_batch(bench.model, 4);
  const Params gradient = bench.model.gradient(start, set);
  std::vector<double> lengths;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    lengths.push_back(std::sqrt(gradient[i].square().sum().item<double>()));
  }
  const auto algorithm =
      plugins().create("fedlap", settings({{"rate", 0.5}, {"server_epochs", std::int64_t{1}}}));
  const Params reached =
      bench.aggregate(*algorithm, start, {message(set, 7, torch::tensor(lengths, torch::kFloat64))});
  EXPECT_LE(norm(reached - (start - 0.5 * gradient)), 1e-12);
}

// A gradient of zero has no direction to stretch.
TEST_F(FedLapCalibration, LeavesZerosAlone) {
  Params dead = Params::zeros(bench.model.layout(), bench.model.options());
  dead[1].fill_(-1e3);  // no unit of the hidden layer answers
  const auto algorithm =
      plugins().create("fedlap", settings({{"rate", 1.0}, {"server_epochs", std::int64_t{1}}}));
  const Params reached = bench.aggregate(
      *algorithm, dead, {message(random_batch(bench.model, 4), 7, torch::full({4}, 0.5, torch::kFloat64))});
  const Params moved = reached - dead;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(moved[i].abs().max().item<double>(), 0) << i;
  EXPECT_NEAR(norm(moved), 0.5, 1e-12);
}

TEST_F(FedLapCalibration, SendsTheLengthsAtTheGlobalModelForOneAccessMore) {
  Stream stream({.seed = 6});
  const Params start = bench.model.initial(stream);
  const Batch examples = random_batch(bench.model, 9);
  const auto train = [&](const Settings& more, std::vector<std::string>& accesses) {
    Settings all{{"classes", fedlap_calibration_text("all")},
                 {"image_init", fedlap_calibration_text("noise")},
                 {"outer_steps", std::int64_t{2}},
                 {"real_batches", std::int64_t{2}},
                 {"model_steps", std::int64_t{1}},
                 {"server_descent", fedlap_calibration_text("weighted")},
                 {"server_radius", fedlap_calibration_text("none")},
                 {"augmentation", fedlap_calibration_text("none")},
                 {"images_per_class", std::int64_t{1}}};
    all.insert(all.end(), more.begin(), more.end());
    OpenShard shard(bench.model, examples);
    Message sent = bench.train(*plugins().create("fedlap", all), shard, {{kModel, start}});
    accesses = shard.accesses;
    return sent;
  };
  std::vector<std::string> plain, calibrated;
  EXPECT_FALSE(train({}, plain).contains(kNorms.name));
  const torch::Tensor norms = train({{"server_calibration", true}}, calibrated)[kNorms];
  plain.emplace_back("gradient");
  EXPECT_EQ(calibrated, plain);

  const Params gradient = bench.model.gradient(start, examples);
  ASSERT_EQ(norms.size(0), static_cast<std::int64_t>(gradient.size()));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(norms[static_cast<std::int64_t>(i)].item<double>(),
                std::sqrt(gradient[i].square().sum().item<double>()), 1e-14);
  }
}

TEST_F(FedLapCalibration, IsRefusedOnTheUnion) {
  try {
    plugins().create("fedlap", {{"server_calibration", true}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("server_descent is \"union\""));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("server_descent = \"weighted\""));
  }
  EXPECT_NO_THROW(plugins().create("fedlap", settings({})));
}

}  // namespace
}  // namespace fedarena
