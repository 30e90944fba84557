#include "tests/conformance/federations.hpp"
#include "tests/paths.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "fedarena/base/stream.hpp"

#include "harness/models/zoo.hpp"

namespace fedarena {

const PluginHost& plugins() {
  static const auto* const host = [] {
    auto* loaded = new PluginHost();
    loaded->load_folder(test::build_folder() / "plugins");
    return loaded;
  }();
  return *host;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : plugins().registry().algorithms()) names.push_back(info.name);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& algorithm) {
  std::string name = algorithm.param;
  for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

Settings declared_by(const std::string& algorithm, const Settings& wanted) {
  const Settings little_work{{"images_per_class", std::int64_t{3}}, {"trajectories", std::int64_t{1}},
                             {"initialisations", std::int64_t{2}},  {"outer_steps", std::int64_t{2}},
                             {"model_epochs", std::int64_t{2}},     {"iterations", std::int64_t{2}},
                             {"real_batches", std::int64_t{2}},     {"image_updates", std::int64_t{2}},
                             {"server_epochs", std::int64_t{8}},    {"image_rate", 1.0}};
  Settings declared;
  for (const Settings* settings : {&little_work, &wanted}) {
    for (const auto& setting : *settings) {
      if (find_field(plugins().info(algorithm).fields, setting.first)) declared.push_back(setting);
    }
  }
  return declared;
}

bool sends_synthetic_sets(const std::string& algorithm) {
  return plugins().info(algorithm).description.uplink.starts_with("synthetic images");
}

bool reads_raw_examples(const std::string& algorithm) { return algorithm == "dsc" || algorithm == "feddm"; }

Federation federation_for(const std::string& algorithm, Task task, TestRunOptions options) {
  if (algorithm != "dsc") return {std::move(task), options};
  Partition together(1);
  for (const std::vector<std::int64_t>& shard : task.partition) {
    together[0].insert(together[0].end(), shard.begin(), shard.end());
  }
  task.partition = std::move(together);
  options.rounds = 1;
  options.cohort_size = std::min<std::int64_t>(options.cohort_size, 1);
  return {std::move(task), options};
}

WorkPool pool_of(int workers) {
  use_one_torch_thread();
  return WorkPool(workers, use_one_torch_thread);
}

Model linear_model_of(const Dataset& dataset) {
  const ModelInput input{
      .shape = {dataset.train.inputs.size(1)}, .outputs = dataset.train.targets.size(1), .regression = true};
  return {build_model("linear", {}, input), torch::kFloat64};
}

Task image_task(const std::string& model, const Settings& settings) {
  constexpr std::int64_t kClasses = 3, kSide = 8, kTest = 270;
  const std::vector<std::int64_t> sizes{300, 7, 40, 81};
  Stream stream({.seed = 77, .purpose = Purpose::kDataset});
  const auto draw = [&](std::int64_t count) {
    Examples examples{torch::empty({count, 1, kSide, kSide}, torch::kUInt8),
                      torch::empty({count}, torch::kInt64)};
    auto* pixels = examples.inputs.data_ptr<std::uint8_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto label = static_cast<std::int64_t>(stream.below(kClasses));
      examples.targets[i] = label;
      // A bright row tells the class, noise covers it.
      for (std::int64_t p = 0; p < kSide * kSide; ++p) {
        *pixels++ = static_cast<std::uint8_t>(stream.below(156) + (p / kSide == 2 * label + 1 ? 100U : 0U));
      }
    }
    return examples;
  };
  Task task{.name = model, .dataset = {}, .partition = {}, .model = nullptr};
  std::int64_t next = 0;
  for (const std::int64_t size : sizes) {
    std::vector<std::int64_t>& shard = task.partition.emplace_back();
    for (std::int64_t i = 0; i < size; ++i) shard.push_back(next++);
  }
  task.dataset.name = "tiny images";
  task.dataset.train = draw(next);
  task.dataset.test = draw(kTest);
  task.dataset.classes = kClasses;
  task.dataset.mean = {0.35};
  task.dataset.deviation = {0.2};
  const ModelInput input{.shape = {1, kSide, kSide}, .outputs = kClasses, .regression = false};
  task.model = std::make_shared<Model>(build_model(model, settings, input), torch::kFloat32);
  return task;
}

TestRun::TestRun(const Dataset& dataset, const Partition& partition, const Model& model,
                 std::unique_ptr<const Algorithm> algorithm, const TestRunOptions& options)
    : algorithm_(std::move(algorithm)), pool_(options.workers, use_one_torch_thread) {
  use_one_torch_thread();
  const auto everyone = static_cast<std::int64_t>(partition.size());
  const SimulationSetup setup{.dataset = dataset,
                              .partition = partition,
                              .model = model,
                              .algorithm = *algorithm_,
                              .pool = pool_,
                              .stop = stop,
                              .seed = options.seed,
                              .rounds = options.rounds,
                              .cohort_size = options.cohort_size > 0 ? options.cohort_size : everyone,
                              .evaluate_every = options.evaluate_every,
                              .on_client =
                                  [this](std::int64_t, std::int64_t) {
                                    if (on_client) on_client();
                                  },
                              .policy = options.policy};
  simulation_ = std::make_unique<Simulation>(setup);
}

TestRun::TestRun(const Task& task, const std::string& algorithm, const Settings& settings,
                 const TestRunOptions& options)
    : TestRun(task.dataset, task.partition, *task.model, plugins().create(algorithm, settings), options) {}

TestRun::TestRun(Federation federation, std::unique_ptr<const Algorithm> algorithm)
    : TestRun(std::make_shared<const Federation>(std::move(federation)), std::move(algorithm)) {}

TestRun::TestRun(std::shared_ptr<const Federation> federation, std::unique_ptr<const Algorithm> algorithm)
    : TestRun(federation->task.dataset, federation->task.partition, *federation->task.model,
              std::move(algorithm), federation->options) {
  federation_ = std::move(federation);
}

TestRun& TestRun::finish() {
  while (!simulation_->finished()) simulation_->next_round();
  return *this;
}

std::vector<double> TestRun::values() const { return values_of(simulation_->params()); }

std::vector<double> values_of(const Params& params) {
  const torch::Tensor flat = params.flat().to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

bool same_bits(const Params& left, const Params& right) {
  return left.flat().scalar_type() == right.flat().scalar_type() &&
         left.flat().nbytes() == right.flat().nbytes() &&
         std::memcmp(left.flat().data_ptr(), right.flat().data_ptr(), left.flat().nbytes()) == 0;
}

}  // namespace fedarena
