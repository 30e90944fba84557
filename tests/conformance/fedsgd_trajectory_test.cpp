// FedSGD on linear regressions: gradient descent on the weighted sum of the clients' losses.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "harness/simulation/cohort.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/conformance/quadratics.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kFedsgdSeed = 4;
constexpr double kFedsgdRate = 0.2;

struct FedsgdCase {
  std::string name;
  bool by_examples = true;
  std::int64_t cohort_size = 4;
};

class FedSgdTrajectory : public ::testing::TestWithParam<FedsgdCase> {};

TEST_P(FedSgdTrajectory, StepsAlongTheMeanGradient) {
  const FedsgdCase& wanted = GetParam();
  const QuadraticFederation federation = quadratic_federation({12, 7, 33, 18});
  const Model model = linear_model_of(federation.dataset);
  const Settings settings{{"rate", kFedsgdRate},
                          {"schedule", "step"},
                          {"schedule_step", std::int64_t{2}},
                          {"schedule_factor", 0.5},
                          {"weighting", std::string(wanted.by_examples ? "examples" : "uniform")}};
  TestRun run(federation.dataset, federation.partition, model, plugins().create("fedsgd", settings),
              {.seed = kFedsgdSeed, .rounds = 6, .cohort_size = wanted.cohort_size});
  Vector x = run.values();
  for (std::int64_t round = 1; round <= 6; ++round) {
    const double rate = kFedsgdRate * std::pow(0.5, (round - 1) / 2);
    x = average_round(federation, choose_cohort(kFedsgdSeed, round, federation.population(), wanted.cohort_size), x,
                      wanted.by_examples, 1, [&](const Quadratic& client, const Vector& start) {
                        return start - rate * client.gradient(start);
                      });
    run->next_round();
    ASSERT_LE(length(run.values() - x), 1e-12 * length(x)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, FedSgdTrajectory,
                         ::testing::Values(FedsgdCase{.name = "Default"},
                                           FedsgdCase{.name = "Uniform", .by_examples = false},
                                           FedsgdCase{.name = "PartialParticipation", .cohort_size = 2}),
                         [](const auto& info) { return info.param.name; });

// The paper's own definition: FedAvg with one step on one batch of everything. Under the policy "record" the
// same batches are drawn and the same noise is added.
TEST(FedSgd, IsFedAvgWithOneStep) {
  for (const PrivacyPolicy& policy : std::vector<PrivacyPolicy>{NoPolicy{}, RecordPolicy()}) {
    const QuadraticFederation federation = quadratic_federation({12, 7, 33, 18});
    const Model model = linear_model_of(federation.dataset);
    for (const std::int64_t batch_size : {0, 5}) {
      const auto train = [&](const std::string& algorithm, Settings settings) {
        settings.insert(settings.end(), {{"batch_size", batch_size}, {"rate", kFedsgdRate}});
        return TestRun(federation.dataset, federation.partition, model, plugins().create(algorithm, settings),
                       {.rounds = 5, .cohort_size = 3, .policy = policy})
            .finish()
            .values();
      };
      const Vector expected = train("fedavg", {{"local_steps", std::int64_t{1}}});
      EXPECT_LE(length(train("fedsgd", {}) - expected), 1e-12 * length(expected)) << batch_size;
    }
  }
}

TEST(FedSgd, TakesOneGradientAClientAndRound) {
  const Task task = image_task("logistic", {});
  TestRun run(task, "fedsgd", {{"batch_size", std::int64_t{16}}}, {.rounds = 3});
  for (const auto& [client, record] : run.finish()->ledger().clients()) {
    ASSERT_EQ(record.segments.size(), 1U);
    EXPECT_EQ(record.segments[0].participations, 3);
    ASSERT_EQ(record.segments[0].accesses.size(), 1U);
    EXPECT_EQ(record.segments[0].accesses[0].count, 1);
  }
}

}  // namespace
}  // namespace fedarena
