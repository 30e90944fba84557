#include "benchmarks/arena.hpp"

#include <limits>
#include <numeric>

#include "harness/loader/plugin_host.hpp"
#include "harness/models/zoo.hpp"

namespace fedarena::benchmarks {
namespace {

constexpr std::uint64_t kSeed = 1;

Examples draw(const Scenario& scenario, std::int64_t count, std::uint64_t index) {
  Stream stream({.seed = kSeed, .purpose = Purpose::kDataset, .index = index});
  std::vector<std::int64_t> shape{count};
  shape.insert(shape.end(), scenario.input_shape.begin(), scenario.input_shape.end());
  if (scenario.input_shape.size() == 1) {
    return {normal(stream, shape), normal(stream, {count, scenario.outputs})};
  }
  return {uniform(stream, shape, 0, 256).to(torch::kUInt8),
          uniform(stream, {count}, 0, static_cast<double>(scenario.outputs)).to(torch::kInt64)};
}

Partition deal(const Scenario& scenario) {
  Partition partition(static_cast<std::size_t>(scenario.clients));
  std::int64_t next = 0;
  for (std::vector<std::int64_t>& shard : partition) {
    shard.resize(static_cast<std::size_t>(scenario.examples));
    std::iota(shard.begin(), shard.end(), next);
    next += scenario.examples;
  }
  return partition;
}

}  // namespace

Dataset random_dataset(const Scenario& scenario) {
  const bool images = scenario.input_shape.size() == 3;
  Dataset dataset;
  dataset.name = "random";
  dataset.train = draw(scenario, scenario.clients * scenario.examples, 0);
  dataset.test = draw(scenario, scenario.test_examples, 1);
  if (images) {
    const auto channels = static_cast<std::size_t>(scenario.input_shape[0]);
    dataset.classes = scenario.outputs;
    dataset.mean.assign(channels, 0.5);
    dataset.deviation.assign(channels, 0.29);
  }
  return dataset;
}

Model make_model(const Scenario& scenario) {
  const ModelInput input{.shape = scenario.input_shape,
                         .outputs = scenario.outputs,
                         .regression = scenario.input_shape.size() == 1};
  return {build_model(scenario.model, {}, input), torch::kFloat32};
}

Arena::Arena(const Scenario& scenario)
    : dataset_(random_dataset(scenario)),
      partition_(deal(scenario)),
      model_(make_model(scenario)),
      reader_(dataset_, model_.options()),
      pool_(scenario.workers, use_one_torch_thread),
      cohort_(scenario.cohort == 0 ? scenario.clients : scenario.cohort) {
  keep_freed_memory();
  use_one_torch_thread();
}

Simulation Arena::simulate(const Algorithm& algorithm, const PrivacyPolicy& policy,
                           const ClientStates::Room& states, const CanaryPlan& canaries) const {
  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  return Simulation(SimulationSetup{.dataset = dataset_,
                                    .partition = partition_,
                                    .model = model_,
                                    .algorithm = algorithm,
                                    .pool = pool_,
                                    .stop = stop_,
                                    .seed = kSeed,
                                    .rounds = kForever,
                                    .cohort_size = cohort_,
                                    .evaluate_every = kForever,
                                    .policy = policy,
                                    .canaries = canaries,
                                    .states = states});
}

Params initial_weights(const Model& model) {
  Stream weights({.seed = kSeed, .purpose = Purpose::kInitialWeights});
  return model.initial(weights);
}

Batch first_examples(const Examples& examples, const ExampleReader& reader, std::int64_t count) {
  return reader.read(examples, torch::arange(count, torch::kInt64));
}

std::unique_ptr<const Algorithm> from_plugin(const std::string& name, const Settings& settings) {
  static const PluginHost* const host = [] {
    auto* loaded = new PluginHost();
    loaded->load_folder(FEDARENA_BUILD_DIR "/plugins");
    return loaded;
  }();
  return host->create(name, settings);
}

std::unique_ptr<const Algorithm> fedavg(const Settings& settings) { return from_plugin("fedavg", settings); }

}  // namespace fedarena::benchmarks
