#include "harness/runner/cell_size.hpp"

#include <variant>

#include "harness/gradients/gradients.hpp"
#include "harness/oracle/policies.hpp"

namespace fedarena {

CellSize cell_size(const Experiment& experiment, const AlgorithmEntry& algorithm, const Model& model,
                   std::int64_t clients, const WorkPool& pool) {
  const PrivacyPolicy policy = make_policy(algorithm.privacy.name, algorithm.privacy.settings);
  return {.parameters = model.layout()->numel(),
          .activations = model.activations(),
          .micro_batch = GradientEngine(model, pool).micro_batch(),
          .cohort = experiment.cohort_size(clients),
          .number_bytes = experiment.dtype == "float64" ? 8 : 4,
          .workers = pool.workers(),
          .per_example = std::holds_alternative<RecordPolicy>(policy)};
}

}  // namespace fedarena
