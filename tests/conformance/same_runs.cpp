#include "tests/conformance/same_runs.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "tests/harness/ranks/threads_as_ranks.hpp"

namespace fedarena {

void expect_same_bits_on_ranks(
    const TestRunOptions& options,
    const std::function<std::unique_ptr<TestRun>(const TestRunOptions& options)>& run) {
  const auto alone = run(options);
  const test::ThreadsAsRanks ranks(3, [&](Ranks& other) {
    const WorkPool pool(1, use_one_torch_thread);
    serve(other, pool, "", [&](const RunRequest&) {
      const std::shared_ptr<TestRun> theirs = run(options);
      const auto worker = std::make_shared<const Worker>((*theirs)->worker());
      return std::shared_ptr<const Worker>(worker.get(), [theirs, worker](const Worker*) {});
    });
  });
  const WorkPool pool(2, use_one_torch_thread);
  Crew crew(ranks.first(), pool, "");
  crew.begin("");
  TestRunOptions on_ranks = options;
  on_ranks.crew = &crew;
  const auto shared = run(on_ranks);
  while (!(*alone)->finished()) {
    const results::RoundRecord expected = (*alone)->next_round(), same = (*shared)->next_round();
    EXPECT_EQ(same.cost, expected.cost);
    EXPECT_EQ(same.uplink_bytes, expected.uplink_bytes);
    EXPECT_EQ(same.test_loss, expected.test_loss);
    EXPECT_EQ(same.client_scores, expected.client_scores);
    EXPECT_EQ(same.observed, expected.observed);
  }
  EXPECT_EQ((*shared)->save(), (*alone)->save());
  crew.end();
}

void expect_same_by_gpu_kernels(const std::function<std::unique_ptr<TestRun>()>& run) {
  const auto here = run();
  std::vector<results::RoundRecord> rounds;
  while (!(*here)->finished()) rounds.push_back((*here)->next_round());
  const cuda::Walked walked(cuda::Order::kForward);
  const auto there = run();
  for (const results::RoundRecord& expected : rounds) {
    const results::RoundRecord round = (*there)->next_round();
    EXPECT_EQ(round.cost, expected.cost);
    EXPECT_EQ(round.uplink_bytes, expected.uplink_bytes);
    EXPECT_EQ(round.epsilon, expected.epsilon);
    EXPECT_NEAR(round.test_loss.value(), expected.test_loss.value(), 1e-8);
  }
  const std::vector<double> expected = here->values(), actual = there->values();
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-8 * (1 + std::abs(expected[i])));
}

Task in_double(Task task) {
  task.model = std::make_shared<const Model>(task.model->architecture(), torch::kFloat64);
  task.proxy = task.proxy.to(torch::kFloat64);
  return task;
}

void expect_continuation(const std::function<std::unique_ptr<TestRun>()>& run) {
  const auto unbroken = run();
  std::vector<Bytes> saved{(*unbroken)->save()};
  results::RoundRecord last;
  while (!(*unbroken)->finished()) {
    last = (*unbroken)->next_round();
    saved.push_back((*unbroken)->save());
  }
  for (std::size_t done = 0; done < saved.size(); ++done) {
    const auto resumed = run();
    (*resumed)->restore(saved[done]);
    EXPECT_EQ((*resumed)->rounds_done(), static_cast<std::int64_t>(done));
    EXPECT_EQ((*resumed)->save(), saved[done]);
    results::RoundRecord record = last;
    while (!(*resumed)->finished()) record = (*resumed)->next_round();
    EXPECT_EQ(record.client_scores, last.client_scores) << "from round " << done;
    EXPECT_EQ((*resumed)->save(), saved.back()) << "from round " << done;
    EXPECT_TRUE(same_bits((*resumed)->params(), (*unbroken)->params())) << "from round " << done;
  }
}

}  // namespace fedarena
