#include "harness/runner/plan/cell_size.hpp"

#include <algorithm>
#include <variant>

#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/policies.hpp"

namespace fedarena {

CellSize cell_size(const Experiment& experiment, const AlgorithmEntry& algorithm, const Model& model,
                   std::int64_t clients, const WorkPool& pool, std::int64_t state_memory) {
  const PrivacyPolicy policy = make_policy(algorithm.privacy.name, algorithm.privacy.settings);
  const std::int64_t parameters = model.layout()->numel();
  const std::int64_t number_bytes = experiment.dtype == "float64" ? 8 : 4;
  return {.parameters = parameters,
          .activations = model.activations(),
          .micro_batch = GradientEngine(model, pool).micro_batch(),
          .cohort = experiment.cohort_size(clients),
          .number_bytes = number_bytes,
          .workers = pool.workers(),
          .per_example = std::holds_alternative<RecordPolicy>(policy),
          .states = std::min(state_memory, clients * parameters * number_bytes)};
}

}  // namespace fedarena
