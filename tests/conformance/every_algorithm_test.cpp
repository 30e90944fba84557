// What every algorithm of every plugin must do, new ones included: they are read off the registry.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/oracle/example_reader.hpp"
#include "tests/conformance/federations.hpp"
#include "tests/harness/ranks/threads_as_ranks.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

const std::vector<Task>& tasks() {
  static const std::vector<Task> all{image_task("logistic", {}),
                                     image_task("convnet", {{"depth", 2}, {"width", 4}})};
  return all;
}

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  /// Little work: whole shards, of which one spans micro-batches, or small batches.
  Settings settings(std::int64_t batch_size) const {
    return declared_by(GetParam(), {{"local_epochs", batch_size == 0 ? 3 : 1},
                                    {"batch_size", batch_size},
                                    {"rate", 0.1},
                                    {"generator", "real"}});
  }
  std::unique_ptr<TestRun> run(const Task& task, std::int64_t batch_size,
                               const TestRunOptions& options) const {
    return std::make_unique<TestRun>(federation_for(GetParam(), task, options),
                                     plugins().create(GetParam(), settings(batch_size)));
  }
};

INSTANTIATE_TEST_SUITE_P(Registered, EveryAlgorithm, ::testing::ValuesIn(algorithm_names()), test_name);

TEST(Plugins, AllLoad) {
  for (const PluginReport& report : plugins().reports()) EXPECT_EQ(report.problem, "") << report.library;
  EXPECT_GE(algorithm_names().size(), 3U);
}

// What ranks share: the loops over clients and over what is tested, personal models among it.
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
  }
  EXPECT_EQ((*shared)->save(), (*alone)->save());
  crew.end();
}

TEST_P(EveryAlgorithm, GivesTheSameBitsForAnyNumberOfRanks) {
  Task task = tasks().front();
  task.dataset.test = task.dataset.train;
  expect_same_bits_on_ranks({.rounds = 2, .cohort_size = 3, .test_clients = true},
                            [&](const TestRunOptions& options) { return run(task, 16, options); });
}

// On a GPU's kernels, walked by the host: the same books, and the same numbers but for rounding, which double
// precision keeps from growing.
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

TEST_P(EveryAlgorithm, ComputesTheSameByAGpusKernels) {
  // Of a cluster of two examples both are as near to its middle: rounding chooses the representative.
  Settings same = settings(16);
  if (find_field(plugins().info(GetParam()).fields, "real_images"))
    same.emplace_back("real_images", std::string("random"));
  expect_same_by_gpu_kernels([&] {
    return std::make_unique<TestRun>(
        federation_for(GetParam(), in_double(tasks().back()), {.rounds = 2, .cohort_size = 3}),
        plugins().create(GetParam(), same));
  });
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

TEST_P(EveryAlgorithm, DescribesItself) {
  const AlgorithmInfo& info = plugins().info(GetParam());
  for (const std::string& text :
       {info.description.summary, info.description.citation, info.description.downlink,
        info.description.uplink, info.plugin, info.library}) {
    EXPECT_FALSE(text.empty());
  }
  for (const Field& field : info.fields) EXPECT_FALSE(field.doc.empty()) << field.name;
  EXPECT_NO_THROW(plugins().create(GetParam(), {}));
}

TEST_P(EveryAlgorithm, GivesTheSameBitsForAnyNumberOfWorkers) {
  for (const Task& task : tasks()) {
    for (const std::int64_t batch_size : {0, 16}) {
      const auto one = run(task, batch_size, {.rounds = 2, .cohort_size = 3, .workers = 1});
      one->finish();
      const auto several = run(task, batch_size, {.rounds = 2, .cohort_size = 3, .workers = 3});
      several->finish();
      EXPECT_TRUE(same_bits((*one)->params(), (*several)->params())) << task.name;
      EXPECT_EQ((*one)->save(), (*several)->save()) << task.name;
    }
  }
}

TEST_P(EveryAlgorithm, DependsOnItsSeed) {
  const Task& task = tasks().front();
  const auto first = run(task, 16, {.seed = 1, .rounds = 1}), same = run(task, 16, {.seed = 1, .rounds = 1}),
             other = run(task, 16, {.seed = 2, .rounds = 1});
  EXPECT_EQ(first->finish().values(), same->finish().values());
  EXPECT_NE(first->values(), other->finish().values());
}

TEST_P(EveryAlgorithm, StartsFromTheWeightsThatAllStartFrom) {
  for (const Task& task : tasks()) {
    const auto mine = run(task, 16, {});
    TestRun reference(task, "fedavg", {}, {});
    EXPECT_TRUE(same_bits((*mine)->params(), reference->params()));
  }
}

double test_loss(const Task& task, const Params& at) {
  const ExampleReader reader(task.dataset, task.model->options());
  const torch::Tensor everything = torch::arange(task.dataset.test.targets.size(0));
  return task.model->loss(at, reader.read(task.dataset.test, everything)).item<double>();
}

TEST_P(EveryAlgorithm, LowersTheLoss) {
  for (const Task& task : tasks()) {
    const auto training = run(task, 16, {.rounds = 5});
    double first = test_loss(task, (*training)->params());
    double last = (*training)->next_round().test_loss.value();
    if (!(*training)->finished()) first = last;
    while (!(*training)->finished()) last = (*training)->next_round().test_loss.value();
    EXPECT_LT(last, first) << task.name;
  }
}

// From a checkpoint after every round of a run that `make` gives.
void expect_continuation(const std::function<std::unique_ptr<TestRun>()>& make) {
  const auto unbroken = make();
  std::vector<Bytes> saved{(*unbroken)->save()};
  while (!(*unbroken)->finished()) {
    (*unbroken)->next_round();
    saved.push_back((*unbroken)->save());
  }
  for (std::size_t done = 0; done < saved.size(); ++done) {
    const auto resumed = make();
    (*resumed)->restore(saved[done]);
    EXPECT_EQ((*resumed)->rounds_done(), static_cast<std::int64_t>(done));
    EXPECT_EQ((*resumed)->save(), saved[done]);
    EXPECT_EQ(resumed->finish()->save(), saved.back()) << "from round " << done;
    EXPECT_TRUE(same_bits((*resumed)->params(), (*unbroken)->params())) << "from round " << done;
  }
}

TEST_P(EveryAlgorithm, ContinuesFromEveryRoundToTheSameBits) {
  for (const Task& task : tasks()) {
    SCOPED_TRACE(task.name);
    expect_continuation([&] { return run(task, 16, {.rounds = 3, .cohort_size = 2}); });
  }
}

// Stopped before, amid or after the clients' work: a round leaves no trace and can be made again.
TEST_P(EveryAlgorithm, LeavesNoTraceOfAnInterruptedRound) {
  const Task& task = tasks().back();
  for (const int workers : {1, 2}) {
    const TestRunOptions options{.rounds = 3, .cohort_size = 3, .workers = workers};
    const Federation federation = federation_for(GetParam(), task, options);
    const auto unbroken = run(task, 16, options);
    unbroken->finish();
    for (const int stop_after : std::set<int>{0, 1, static_cast<int>(federation.options.cohort_size)}) {
      const auto stopped = run(task, 16, options);
      if (federation.options.rounds > 1) (*stopped)->next_round();
      const Bytes before = (*stopped)->save();
      std::atomic<int> done = 0;
      stopped->stop = stop_after == 0;
      stopped->on_client = [&] {
        if (++done == stop_after) stopped->stop = true;
      };
      EXPECT_THROW((*stopped)->next_round(), Interrupted);
      EXPECT_EQ((*stopped)->save(), before);
      stopped->on_client = {};
      stopped->stop = false;
      EXPECT_EQ(stopped->finish()->save(), (*unbroken)->save()) << "stopped after " << stop_after;
    }
  }
}

TEST_P(EveryAlgorithm, IsNotTouchedByEvaluation) {
  const Task& task = tasks().front();
  const auto often = run(task, 16, {.rounds = 4, .evaluate_every = 1}),
             rarely = run(task, 16, {.rounds = 4, .evaluate_every = 3});
  while (!(*rarely)->finished()) {
    const results::RoundRecord record = (*rarely)->next_round();
    EXPECT_EQ(record.test_loss.has_value(), record.round == 3 || (*rarely)->finished());
  }
  EXPECT_EQ(often->finish()->save(), (*rarely)->save());
}

// Partitions leave no client empty, but sub-sampling for an experiment may.
TEST_P(EveryAlgorithm, BearsAnEmptyShard) {
  for (Task task : tasks()) {
    task.partition[1].clear();
    if (federation_for(GetParam(), task, {}).task.partition.size() == 1) task.partition = {{}};
    for (const std::int64_t batch_size : {0, 16}) {
      const auto training = run(task, batch_size, {.rounds = 3});
      for (const double value : training->finish().values()) ASSERT_TRUE(std::isfinite(value)) << task.name;
    }
  }
}

// What every algorithm of every plugin must do under every privacy policy, without a line of its own for it.

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
      EXPECT_THAT(test::message_of([&] { run(policy); }), HasSubstr("first_rounds"));
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
// the reason: sets of images and single numbers have no place in the vector that is noised.
std::vector<PrivacyPolicy> local_policies_to_try() {
  LocalPolicy laplace, by_tensor;
  laplace.mechanism = kLocalLaplace;
  by_tensor.by_tensor = true;
  return {LocalPolicy(), laplace, by_tensor};
}

bool sends_models_alone(const std::string& algorithm) {
  const bool sends_images = plugins().info(algorithm).description.uplink.starts_with("synthetic images");
  return !sends_images && algorithm != "fednova" && algorithm != "ifca";
}

TEST_P(PrivateAlgorithm, SendsNoisyModelsOrIsRefused) {
  for (const PrivacyPolicy& policy : local_policies_to_try()) {
    const auto training = run(policy);
    if (!sends_models_alone(GetParam())) {
      EXPECT_THAT(test::message_of([&] { (*training)->next_round(); }),
                  HasSubstr("under the policy \"local\""));
      continue;
    }
    expect_finite_epsilon_that_grows(*training);
    EXPECT_EQ(run(policy, 3)->finish()->save(), (*training)->save());
    expect_continuation([&] { return run(policy); });
  }
}

// The promise that a new algorithm takes about fifty lines, and one of a long paper some hundreds.

// Of all its files.
int lines_of(const std::string& plugin) {
  int lines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() / "plugins" / plugin)) {
    const std::string kind = entry.path().extension();
    if (kind != ".cpp" && kind != ".hpp") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) ++lines;
  }
  EXPECT_GT(lines, 10) << plugin;
  return lines;
}

TEST(Plugins, AreBrief) {
  const std::vector<std::pair<std::string, int>> most{
      {"fedavg", 60},  {"fedprox", 60}, {"fedsgd", 60},  {"finetune", 60},  {"ditto", 70},
      {"psg", 90},     {"fedmeta", 90}, {"fednova", 95}, {"scaffold", 100}, {"perfedavg", 110},
      {"fedopt", 150},  // four algorithms
      {"dsc", 120},    {"feddf", 120},  {"ifca", 160},   {"sdafl", 210},    {"feddm", 215},
      {"fedd3", 240},  {"pppfl", 310},  {"fedgm", 325},  {"dense", 325},    {"fedlap", 490}};
  for (const auto& [plugin, lines] : most) EXPECT_LE(lines_of(plugin), lines) << plugin;
}

}  // namespace
}  // namespace fedarena
