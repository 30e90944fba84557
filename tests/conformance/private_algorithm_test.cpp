// What every algorithm of every plugin must do under every privacy policy, without a line of its own for it.
#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tests/conformance/same_runs.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

std::vector<PrivacyPolicy> policies_to_try() {
  RecordPolicy fixed_batches;
  fixed_batches.sampling = kWithoutReplacement;
  ClientPolicy fixed_cohorts, adaptive;
  fixed_cohorts.sampling = kWithoutReplacement;
  adaptive.adaptive_clipping = true;
  adaptive.count_noise = 4;
  LabelPolicy two_stages;
  two_stages.stages = 2;
  two_stages.first_rounds = 1;
  return {RecordPolicy(), fixed_batches, ClientPolicy(), fixed_cohorts, adaptive, LabelPolicy(), two_stages};
}

// Two stages take two rounds.
bool refuses(const std::string& algorithm, const PrivacyPolicy& policy) {
  const auto* labels = std::get_if<LabelPolicy>(&policy);
  return labels != nullptr && labels->stages == 2 &&
         federation_for(algorithm, {}, {.rounds = 3}).options.rounds == 1;
}

class PrivateAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<TestRun> run(const PrivacyPolicy& policy, int workers = 1,
                               torch::ScalarType type = torch::kFloat32) const {
    const Settings settings = declared_by(GetParam(), {{"local_epochs", 1},
                                                       {"batch_size", 16},
                                                       {"rate", 0.1},
                                                       {"weighting", "uniform"},
                                                       {"classes", "all"},
                                                       {"image_init", "noise"},
                                                       {"server_radius", "constant"},
                                                       {"effective_steps", 4.0}});
    const TestRunOptions options{.rounds = 3, .cohort_size = 2, .workers = workers, .policy = policy};
    return std::make_unique<TestRun>(
        federation_for(GetParam(), type == torch::kFloat64 ? in_double(task_) : task_, options),
        plugins().create(GetParam(), settings));
  }

 private:
  Task task_ = image_task("logistic", {});
};

INSTANTIATE_TEST_SUITE_P(Registered, PrivateAlgorithm, ::testing::ValuesIn(algorithm_names()), test_name);

void expect_finite_epsilon_that_grows(TestRun& training) {
  double last = 0;
  while (!training->finished()) {
    const double now = training->next_round().epsilon.value();
    EXPECT_TRUE(std::isfinite(now));
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, 0);
}

// Gradients are all that it takes from clients, means all that it takes from messages.
TEST_P(PrivateAlgorithm, SpendsAFiniteEpsilonThatGrows) {
  for (const PrivacyPolicy& policy : policies_to_try()) {
    if (refuses(GetParam(), policy)) {
      expect_refused("first_rounds", [&] { run(policy); });
      continue;
    }
    const auto training = run(policy);
    // Under the policy on labels nobody gets at any exact one.
    const bool gives_away = unit(policy) == Unit::kClient
                                ? sends_one_by_one(GetParam())
                                : unit(policy) == Unit::kRecord && accesses_exactly(GetParam());
    if (gives_away) {
      EXPECT_EQ((*training)->next_round().epsilon, kInfinity);
      continue;
    }
    expect_finite_epsilon_that_grows(*training);
    for (const double value : training->values()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(PrivateAlgorithm, ComputesTheSameByAGpusKernels) {
  // A linear model is already what the mean of its teachers teaches: Adam would follow the rounding of a
  // zero.
  if (find_field(plugins().info(GetParam()).fields, "distillation_steps")) return;
  for (const PrivacyPolicy& policy : policies_to_try()) {
    if (!refuses(GetParam(), policy))
      expect_same_by_gpu_kernels([&] { return run(policy, 1, torch::kFloat64); });
  }
}

TEST_P(PrivateAlgorithm, GivesTheSameBitsForAnyNumberOfWorkers) {
  for (const PrivacyPolicy& policy : policies_to_try()) {
    if (refuses(GetParam(), policy)) continue;
    EXPECT_EQ(run(policy, 3)->finish()->save(), run(policy, 1)->finish()->save());
  }
}

TEST_P(PrivateAlgorithm, ContinuesFromEveryRoundToTheSameBits) {
  for (const PrivacyPolicy& policy : policies_to_try()) {
    if (refuses(GetParam(), policy)) continue;
    expect_continuation([&] { return run(policy); });
  }
}

// Under the policy "local", which noises what leaves a client, an algorithm runs unchanged or is refused with
// the reason, before any work: sets of images and single numbers have no place in the vector that is noised.
std::vector<PrivacyPolicy> local_policies_to_try() {
  LocalPolicy laplace, by_tensor;
  laplace.mechanism = kLocalLaplace;
  by_tensor.by_tensor = true;
  return {LocalPolicy(), laplace, by_tensor};
}

bool sends_models_alone(const std::string& algorithm) {
  const bool sends_images = plugins().info(algorithm).description.uplink.starts_with("synthetic images");
  return !sends_images && algorithm != "ifca";
}

TEST_P(PrivateAlgorithm, SendsNoisyModelsOrIsRefused) {
  for (const PrivacyPolicy& policy : local_policies_to_try()) {
    if (!sends_models_alone(GetParam())) {
      expect_refused("under the policy \"local\"", [&] { (void)run(policy); });
      continue;
    }
    const auto training = run(policy);
    expect_finite_epsilon_that_grows(*training);
    EXPECT_EQ(run(policy, 3)->finish()->save(), (*training)->save());
    expect_continuation([&] { return run(policy); });
  }
}

// Labels are the first rank's: it draws them, others are told.
TEST(RandomisedLabels, AreTheSameOnAnyNumberOfRanks) {
  Task task = image_task("logistic", {});
  task.dataset.test = task.dataset.train;
  LabelPolicy policy;
  policy.stages = 2;
  policy.first_rounds = 1;
  expect_same_bits_on_ranks(
      {.rounds = 3, .cohort_size = 3, .policy = policy, .test_clients = true},
      [&](const TestRunOptions& options) {
        return std::make_unique<TestRun>(task, "ditto", declared_by("ditto", {{"batch_size", 16}}), options);
      });
}

}  // namespace
}  // namespace fedarena
