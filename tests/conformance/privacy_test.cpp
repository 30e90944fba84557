// What every algorithm of every plugin must do under every privacy policy, without a line of its own for it.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/conformance/federations.hpp"

namespace fedarena {
namespace {

std::vector<PrivacyPolicy> policies_to_try() {
  RecordPolicy fixed_batches;
  fixed_batches.sampling = kFixedSize;
  ClientPolicy adaptive;
  adaptive.adaptive_clipping = true;
  adaptive.count_noise = 4;
  return {RecordPolicy(), fixed_batches, ClientPolicy(), adaptive};
}

class PrivateAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<TestRun> run(const PrivacyPolicy& policy, int workers = 1) const {
    const Settings settings = declared_by(GetParam(), {{"batch_size", std::int64_t{16}},
                                                       {"rate", 0.1},
                                                       {"weighting", std::string("uniform")},
                                                       {"classes", std::string("all")},
                                                       {"image_init", std::string("noise")},
                                                       {"server_radius", std::string("constant")},
                                                       {"effective_steps", 4.0}});
    const TestRunOptions options{.rounds = 3, .cohort_size = 2, .workers = workers, .policy = policy};
    return std::make_unique<TestRun>(federation_for(GetParam(), task_, options),
                                     plugins().create(GetParam(), settings));
  }

 private:
  Task task_ = image_task("logistic", {});
};

INSTANTIATE_TEST_SUITE_P(Registered, PrivateAlgorithm, ::testing::ValuesIn(algorithm_names()), test_name);

// Gradients are all that it takes from clients, means all that it takes from messages.
TEST_P(PrivateAlgorithm, SpendsAFiniteEpsilonThatGrows) {
  for (const PrivacyPolicy& policy : policies_to_try()) {
    const auto training = run(policy);
    const bool gives_away =
        unit(policy) == Unit::kClient ? sends_synthetic_sets(GetParam()) : reads_raw_examples(GetParam());
    if (gives_away) {
      EXPECT_EQ((*training)->next_round().epsilon, std::numeric_limits<double>::infinity());
      continue;
    }
    double last = 0;
    while (!(*training)->finished()) {
      const double now = (*training)->next_round().epsilon.value();
      EXPECT_TRUE(std::isfinite(now));
      EXPECT_GE(now, last);
      last = now;
    }
    EXPECT_GT(last, 0);
    for (const double value : training->values()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(PrivateAlgorithm, GivesTheSameBitsForAnyNumberOfWorkers) {
  for (const PrivacyPolicy& policy : policies_to_try()) {
    const auto one = run(policy, 1);
    one->finish();
    for (const int workers : {2, 3}) {
      EXPECT_EQ(run(policy, workers)->finish()->save(), (*one)->save()) << workers << " workers";
    }
  }
}

TEST_P(PrivateAlgorithm, ContinuesFromEveryRoundToTheSameBits) {
  for (const PrivacyPolicy& policy : policies_to_try()) {
    const auto unbroken = run(policy);
    std::vector<Bytes> saved{(*unbroken)->save()};
    while (!(*unbroken)->finished()) {
      (*unbroken)->next_round();
      saved.push_back((*unbroken)->save());
    }
    for (std::size_t done = 0; done < saved.size(); ++done) {
      const auto resumed = run(policy);
      (*resumed)->restore(saved[done]);
      EXPECT_EQ(resumed->finish()->save(), saved.back()) << "from round " << done;
    }
  }
}

}  // namespace
}  // namespace fedarena
