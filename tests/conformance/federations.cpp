#include "tests/conformance/federations.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>
#include <utility>

#include "fedarena/base/stream.hpp"

#include "harness/models/zoo.hpp"
#include "harness/oracle/example_reader.hpp"
#include "tests/paths.hpp"

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
  const Settings little_work{
      {"images_per_class", 3},  {"trajectories", 1}, {"initialisations", 2},       {"outer_steps", 2},
      {"model_epochs", 2},      {"iterations", 2},   {"real_batches", 2},          {"image_updates", 2},
      {"server_epochs", 8},     {"image_rate", 1.0}, {"distillation_steps", 30},   {"generator_steps", 3},
      {"generator_width", 4},   {"noise_size", 8},   {"synthetic_batch_size", 64}, {"generator", "dp-merf"},
      {"merf_frequencies", 50}, {"merf_steps", 30},  {"merf_batch_size", 30},      {"most_examples", 60},
      {"synthetic_images", 30}};
  Settings declared;
  for (const Settings* settings : {&little_work, &wanted}) {
    for (const auto& setting : *settings) {
      if (find_field(plugins().info(algorithm).fields, setting.first)) declared.push_back(setting);
    }
  }
  return declared;
}

bool sends_one_by_one(const std::string& algorithm) {
  return algorithm == "ifca" || algorithm == "feddf" || algorithm == "dense" ||
         plugins().info(algorithm).description.uplink.starts_with("synthetic images");
}

bool accesses_exactly(const std::string& algorithm) {
  static const std::set<std::string> kExact{"dsc", "fedd3", "feddm", "fedgm", "ifca"};
  return kExact.contains(algorithm);
}

Federation federation_for(const std::string& algorithm, Task task, TestRunOptions options) {
  if (plugins().info(algorithm).description.one_round || algorithm == "fedgm") options.rounds = 1;
  if (algorithm != "dsc") return {std::move(task), options};
  Partition together(1);
  for (const std::vector<std::int64_t>& shard : task.partition) {
    together[0].insert(together[0].end(), shard.begin(), shard.end());
  }
  task.partition = std::move(together);
  options.cohort_size = std::min<std::int64_t>(options.cohort_size, 1);
  return {std::move(task), options};
}

WorkPool pool_of(int workers) {
  use_one_torch_thread();
  return WorkPool(workers, use_one_torch_thread);
}

Task regression_task(const torch::Tensor& inputs, const torch::Tensor& targets, Partition partition) {
  Task task{.name = "regression", .dataset = {}, .partition = std::move(partition), .model = nullptr};
  task.dataset.name = task.name;
  task.dataset.train = task.dataset.test = {inputs, targets};
  const ModelInput input{.shape = {inputs.size(1)}, .outputs = targets.size(1), .regression = true};
  task.model = std::make_shared<Model>(build_model("linear", {}, input), torch::kFloat64);
  task.proxy = inputs;
  return task;
}

Task image_task(const std::string& model, const Settings& settings, const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kClasses = 3, kSide = 8, kTest = 270;
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
  task.proxy = ExampleReader(task.dataset, torch::kFloat32).read(draw(150), torch::arange(150)).inputs;
  return task;
}

TestRun::TestRun(Task task, std::unique_ptr<const Algorithm> algorithm, const TestRunOptions& options)
    : task_(std::move(task)), algorithm_(std::move(algorithm)), pool_(options.workers, use_one_torch_thread) {
  use_one_torch_thread();
  const auto everyone = static_cast<std::int64_t>(task_.partition.size());
  const SimulationSetup setup{.dataset = task_.dataset,
                              .partition = task_.partition,
                              .model = *task_.model,
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
                              .policy = options.policy,
                              .client_tests = options.test_clients ? &task_.partition : nullptr,
                              .proxy = task_.proxy,
                              .crew = options.crew};
  simulation_ = std::make_unique<Simulation>(setup);
}

TestRun::TestRun(const Task& task, const std::string& algorithm, const Settings& settings,
                 const TestRunOptions& options)
    : TestRun(task, plugins().create(algorithm, settings), options) {}

TestRun::TestRun(Federation federation, std::unique_ptr<const Algorithm> algorithm)
    : TestRun(std::move(federation.task), std::move(algorithm), federation.options) {}

TestRun& TestRun::finish() {
  while (!simulation_->finished()) simulation_->next_round();
  return *this;
}

std::vector<double> TestRun::values() const { return numbers_of(simulation_->params()); }

std::vector<double> trained(const Task& task, const std::string& algorithm, const Settings& settings,
                            const TestRunOptions& options) {
  return TestRun(task, algorithm, settings, options).finish().values();
}

void expect_same_rounds(const Task& task, const TestRunOptions& options, const std::string& left,
                        const Settings& left_settings, const std::string& right,
                        const Settings& right_settings) {
  TestRun one(task, left, left_settings, options), other(task, right, right_settings, options);
  while (!one->finished()) {
    one->next_round();
    other->next_round();
    ASSERT_TRUE(same_bits(one->params(), other->params())) << "round " << one->rounds_done();
  }
}

Settings joined(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

bool same_bits(const Params& left, const Params& right) {
  return left.flat().scalar_type() == right.flat().scalar_type() &&
         left.flat().nbytes() == right.flat().nbytes() &&
         std::memcmp(left.flat().data_ptr(), right.flat().data_ptr(), left.flat().nbytes()) == 0;
}

}  // namespace fedarena
