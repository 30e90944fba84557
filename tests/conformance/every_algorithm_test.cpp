// What every algorithm of every plugin must do, new ones included: they are read off the registry.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/example_reader.hpp"
#include "tests/conformance/same_runs.hpp"
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

TEST_P(EveryAlgorithm, GivesTheSameBitsForAnyNumberOfRanks) {
  Task task = tasks().front();
  task.dataset.test = task.dataset.train;
  expect_same_bits_on_ranks({.rounds = 2, .cohort_size = 3, .test_clients = true},
                            [&](const TestRunOptions& options) { return run(task, 16, options); });
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
      {"fedavg", 60},  {"fedprox", 60}, {"fedsgd", 60},   {"finetune", 60},  {"ditto", 75},
      {"psg", 90},     {"fedmeta", 95}, {"fednova", 105}, {"scaffold", 110}, {"perfedavg", 115},
      {"fedopt", 155},  // four algorithms
      {"dsc", 120},    {"feddf", 120},  {"ifca", 170},    {"sdafl", 215},    {"feddm", 215},
      {"fedd3", 240},  {"pppfl", 325},  {"fedgm", 330},   {"dense", 325},    {"fedlap", 500}};
  for (const auto& [plugin, lines] : most) EXPECT_LE(lines_of(plugin), lines) << plugin;
}

}  // namespace
}  // namespace fedarena
