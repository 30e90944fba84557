#include "tests/museum/exhibits.hpp"

#include <numeric>

#include <fmt/format.h>

#include "fedarena/accounting/calibration.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "harness/runner/plan/catalog.hpp"
#include "harness/runner/record/cell_record.hpp"
#include "results/audit/compute_claim.hpp"
#include "tests/paths.hpp"

namespace fedarena {

Exhibit::Training sgd(std::int64_t steps, std::int64_t batch_size, double rate) {
  return [=](Client& client, const Params& start) {
    Params local = start;
    for (std::int64_t step = 0; step < steps; ++step) {
      local.add_scaled(-rate, client.oracle.gradient(local, {.batch_size = batch_size}));
    }
    return local;
  };
}

Federation::Federation(const std::vector<std::int64_t>& shard_sizes, const std::vector<Layer>& layers)
    : model({.input_shape = {3}, .outputs = 2, .layers = layers}, torch::kFloat64) {
  use_one_torch_thread();
  Stream stream({.seed = 1});
  const auto draw = [&](std::int64_t count) {
    const torch::Tensor inputs = normal(stream, {count, 3});
    return Examples{inputs, inputs.select(1, 0).gt(0).to(torch::kInt64)};
  };
  dataset.train = draw(std::accumulate(shard_sizes.begin(), shard_sizes.end(), std::int64_t{0}));
  dataset.test = draw(20);
  dataset.classes = 2;
  std::int64_t next = 0;
  for (const std::int64_t size : shard_sizes) {
    std::vector<std::int64_t>& shard = partition.emplace_back(static_cast<std::size_t>(size));
    std::iota(shard.begin(), shard.end(), next);
    next += size;
  }
}

SimulationSetup Federation::setup(const Algorithm& algorithm, const PrivacyPolicy& policy,
                                  std::int64_t rounds) const {
  return {.dataset = dataset,
          .partition = partition,
          .model = model,
          .algorithm = algorithm,
          .pool = pool,
          .stop = stop,
          .seed = 6,
          .rounds = rounds,
          .cohort_size = static_cast<std::int64_t>(partition.size()),
          .evaluate_every = rounds,
          .policy = policy};
}

const PluginHost& plugins() {
  static const auto* const kHost = [] {
    auto* loaded = new PluginHost();
    loaded->load_folder(test::build_folder() / "plugins");
    return loaded;
  }();
  return *kHost;
}

double finish(Simulation& simulation) {
  std::optional<double> epsilon;
  while (!simulation.finished()) epsilon = simulation.next_round().epsilon;
  return epsilon.value();
}

double poisson_epsilon(double noise_multiplier, double rate, std::int64_t steps, double delta) {
  return epsilon_by_rdp(rdp_orders("default"))(
      {.noise_multiplier = noise_multiplier, .rate = rate, .steps = steps, .delta = delta});
}

results::PrivacyClaim claim_of(const Ledger& ledger, const std::string& policy,
                               const AccountSettings& settings) {
  results::Summary summary;
  results::plan_privacy(summary, policy, settings, 0);
  results::compute_claim(summary, ledger);
  return summary.privacy.value();
}

std::string experiment_text(const std::string& privacy) {
  return R"([experiment]
name = "museum"
seeds = [1, 2, 3]
rounds = 30

[data]
name = "glyphs"

[partition]
kind = "classes"
clients = 5
classes_per_client = 2

[model]
name = "logistic"

[privacy]
policy = "record"
)" + privacy +
         R"(
[training]
local_steps = 10

[[algorithms]]
name = "dp-fedavg"

[[algorithms]]
name = "dp-fedprox"
mu = 0.1
)";
}

std::vector<GridPoint> grid_of(const std::string& text, const std::vector<std::string>& overrides) {
  return read_grid(config::parse_document(text, "museum.toml"), overrides, make_catalog(plugins()));
}

results::RunDirectory record(const std::filesystem::path& folder, Simulation& simulation, std::int64_t rounds,
                             const std::string& name, const std::string& policy) {
  Catalog catalog = make_catalog(plugins());
  catalog.algorithms = {{.name = name, .summary = "An exhibit.", .fields = {}}};
  std::string text = experiment_text();
  text = text.substr(0, text.find("[privacy]"));
  text += fmt::format("[privacy]\npolicy = \"{}\"\n\n[[algorithms]]\nname = \"{}\"\n", policy, name);
  const Experiment experiment =
      read_grid(config::parse_document(text, "museum.toml"),
                {"experiment.seeds=[1]", fmt::format("experiment.rounds={}", rounds)}, catalog)
          .front()
          .experiment;

  results::Summary plan;
  plan.experiment = experiment.name;
  plan.label = plan.algorithm = name;
  plan.dataset = experiment.data.name;
  plan.data_hash = std::string(64, 'a');
  plan.partition = experiment.partition.name;
  plan.partition_id = fmt::format("{}(seed=1)", plan.partition);
  plan.partition_hash = "0123456789abcdef";
  plan.model = experiment.model.name;
  plan.seed = 1;
  plan.rounds = experiment.rounds;
  plan.clients = static_cast<std::int64_t>(simulation.ledger().clients().size());
  plan.parameters = simulation.params().flat().numel();
  results::plan_privacy(plan, policy, {}, 0);
  CellRecord cell_record(folder, experiment,
                         results::Json::parse(fmt::format(
                             R"({{"plugins": [{{"name": "{0}-plugin", "algorithms": ["{0}"]}}]}})", name)),
                         plan, false);
  while (!simulation.finished()) cell_record.append(simulation.next_round(), simulation);
  cell_record.finish(simulation);
  return results::RunDirectory::open(folder);
}

}  // namespace fedarena
