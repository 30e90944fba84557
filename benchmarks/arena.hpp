#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/simulation/public_compute.hpp"
#include "harness/simulation/simulation.hpp"

namespace fedarena::benchmarks {

/// What is trained, on how much random data, by how many workers.
struct Scenario {
  std::string model = "convnet";
  std::vector<std::int64_t> input_shape = {3, 32,
                                           32};  ///< three numbers: images of bytes; one: plain features
  std::int64_t outputs = 10;                     ///< classes of images, targets of plain features
  std::int64_t clients = 1;
  std::int64_t examples = 512;  ///< of each client
  std::int64_t test_examples = 1;
  std::int64_t cohort = 0;  ///< clients in a round; 0: all
  int workers = WorkPool::available_cores();
};

Dataset random_dataset(const Scenario& scenario);
Model make_model(const Scenario& scenario);
/// The weights that a simulation of an arena starts from.
Params initial_weights(const Model& model);
/// The first `count` examples as a model takes them.
Batch first_examples(const Examples& examples, const ExampleReader& reader, std::int64_t count);
/// An algorithm from its plugin in the build tree.
std::unique_ptr<const Algorithm> from_plugin(const std::string& name, const Settings& settings);
/// FedAvg from its plugin.
std::unique_ptr<const Algorithm> fedavg(const Settings& settings);

/// Everything that a simulation refers to, filled with random data; sets up process and threads as a run
/// does.
class Arena {
 public:
  explicit Arena(const Scenario& scenario);

  /// A run of that algorithm that is never evaluated; the arena and the algorithm must outlive it.
  Simulation simulate(const Algorithm& algorithm, const PrivacyPolicy& policy = NoPolicy{},
                      const ClientStates::Room& states = {}, const CanaryPlan& canaries = {}) const;

  const Dataset& dataset() const { return dataset_; }
  const Model& model() const { return model_; }
  const WorkPool& pool() const { return pool_; }
  const ExampleReader& reader() const { return reader_; }
  const GradientEngine& engine() const { return engine_; }
  const PublicCompute& compute() const { return compute_; }

 private:
  Dataset dataset_;
  Partition partition_;
  Model model_;
  ExampleReader reader_;
  WorkPool pool_;
  std::int64_t cohort_;
  std::atomic<bool> stop_ = false;
  GradientEngine engine_{model_, pool_};
  PublicCompute compute_{engine_, stop_};
};

}  // namespace fedarena::benchmarks
