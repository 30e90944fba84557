#include "tests/museum/recorded_run.hpp"

#include <fmt/format.h>

#include "harness/config/sections/read.hpp"
#include "harness/runner/plan/catalog.hpp"
#include "harness/runner/record/cell_record.hpp"
#include "results/audit/compute_claim.hpp"
#include "tests/museum/exhibits.hpp"

namespace fedarena {

namespace fs = std::filesystem;

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

Catalog whole_catalog() { return make_catalog(plugins()); }

results::RunDirectory record(const fs::path& folder, Simulation& simulation, std::int64_t rounds,
                             const std::string& name, const std::string& policy) {
  Catalog catalog = whole_catalog();
  catalog.algorithms = {{.name = name, .summary = "An exhibit.", .fields = {}}};
  std::string text = experiment_text();
  text = text.substr(0, text.find("[privacy]"));
  text += fmt::format("[privacy]\npolicy = \"{}\"\n\n[[algorithms]]\nname = \"{}\"\n", policy, name);
  const Experiment experiment = parse_experiment(
      text, "museum.toml", {"experiment.seeds=[1]", fmt::format("experiment.rounds={}", rounds)}, catalog);

  results::Summary plan;
  plan.experiment = experiment.name;
  plan.label = plan.algorithm = name;
  plan.dataset = experiment.data.name;
  plan.partition = experiment.partition.name;
  plan.model = experiment.model.name;
  plan.seed = 1;
  plan.rounds = experiment.rounds;
  plan.clients = static_cast<std::int64_t>(simulation.ledger().clients().size());
  plan.parameters = simulation.params().flat().numel();
  results::plan_privacy(plan, policy, {}, 0);
  CellRecord cell_record(
      folder, cell(experiment, experiment.algorithms[0], 1),
      fmt::format(R"({{"plugins": [{{"name": "{0}-plugin", "algorithms": ["{0}"]}}]}})", name), plan, false);
  while (!simulation.finished()) cell_record.append(simulation.next_round(), simulation);
  cell_record.finish(simulation);
  return results::RunDirectory::open(folder);
}

}  // namespace fedarena
