#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/algorithm.hpp"

#include "harness/loader/plugin_host.hpp"
#include "harness/simulation/simulation.hpp"
#include "tests/harness/sdk/numbers_of.hpp"

namespace fedarena {

/// Every plugin of the build tree, loaded once.
const PluginHost& plugins();

/// Every algorithm that they register, for suites that run over all of them.
std::vector<std::string> algorithm_names();
/// Its name as one of GoogleTest's, which have no dashes.
std::string test_name(const ::testing::TestParamInfo<std::string>& algorithm);

/// Those of the settings that the algorithm declares, and little work where it declares how much there is;
/// for suites that run over all of them.
Settings declared_by(const std::string& algorithm, const Settings& wanted);

/// Whether the server reads messages one by one, such as synthetic examples: a secret under the policy
/// "client".
bool sends_one_by_one(const std::string& algorithm);

/// Whether clients work on raw examples or exact losses by design: under the policy "record" an infinite
/// epsilon, whatever is asked for.
bool accesses_exactly(const std::string& algorithm);

/// A pool whose threads compute as those of the program do.
WorkPool pool_of(int workers);

/// Examples dealt to clients, and what to train on them.
struct Task {
  std::string name;
  Dataset dataset;
  Partition partition;
  std::shared_ptr<const Model> model;
  torch::Tensor proxy = {};  ///< as the model takes it
};

/// A linear regression in double precision on these rows, which are also its test examples.
Task regression_task(const torch::Tensor& inputs, const torch::Tensor& targets, Partition partition);

/// Tiny images in three classes and single precision, dealt to clients of so many examples, of whom the first
/// needs more than one micro-batch.
Task image_task(const std::string& model, const Settings& settings,
                const std::vector<std::int64_t>& sizes = {300, 7, 40, 81});

/// What a run of a task needs besides the algorithm.
struct TestRunOptions {
  std::uint64_t seed = 5;
  std::int64_t rounds = 4;
  std::int64_t cohort_size = 0;  ///< 0: everyone
  std::int64_t evaluate_every = 1;
  int workers = 1;
  PrivacyPolicy policy = NoPolicy{};
  /// Whether clients are tested, each on the test examples of the same numbers as its training examples.
  bool test_clients = false;
  Crew* crew = nullptr;  ///< ranks that share the work
};

/// A task and options that an algorithm can run in.
struct Federation {
  Task task;
  TestRunOptions options;
};

/// Those given; or a single round, and all examples on one client, where the algorithm refuses anything else.
Federation federation_for(const std::string& algorithm, Task task, TestRunOptions options);

/// A simulation together with all that must outlive it.
class TestRun {
 public:
  TestRun(Task task, std::unique_ptr<const Algorithm> algorithm, const TestRunOptions& options);
  TestRun(const Task& task, const std::string& algorithm, const Settings& settings,
          const TestRunOptions& options = {});
  TestRun(Federation federation, std::unique_ptr<const Algorithm> algorithm);

  Simulation& operator*() { return *simulation_; }
  Simulation* operator->() { return simulation_.get(); }
  /// All rounds that are left.
  TestRun& finish();
  std::vector<double> values() const;

  std::atomic<bool> stop = false;
  std::function<void()> on_client;

 private:
  const Task task_;
  std::unique_ptr<const Algorithm> algorithm_;
  WorkPool pool_;
  std::unique_ptr<Simulation> simulation_;
};

/// The weights after all rounds.
std::vector<double> trained(const Task& task, const std::string& algorithm, const Settings& settings,
                            const TestRunOptions& options = {});
/// Checks that both algorithms hold the same bits after every round.
void expect_same_rounds(const Task& task, const TestRunOptions& options, const std::string& left,
                        const Settings& left_settings, const std::string& right,
                        const Settings& right_settings);

/// Both, one behind the other.
Settings joined(Settings settings, const Settings& more);

/// Whether both hold the same bits.
bool same_bits(const Params& left, const Params& right);

}  // namespace fedarena
