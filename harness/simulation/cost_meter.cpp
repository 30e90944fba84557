#include "harness/simulation/cost_meter.hpp"

namespace fedarena {

CostMeter::CostMeter(const Model& model, const GradientEngine& engine, const PublicCompute& compute)
    : operations_(count_operations(model.architecture())),
      engine_(engine),
      compute_(compute),
      work_before_(engine.work()),
      own_loops_before_(compute.own_loops()) {}

results::Cost CostMeter::cost() const {
  Work work = engine_.work();
  work -= work_before_;
  const std::int64_t second_pass = operations_.input_gradient - operations_.gradient;
  return {.gradients = work.gradients,
          .operations = work.gradients * operations_.gradient + work.second_passes * second_pass +
                        work.evaluations * operations_.forward,
          .at_least = compute_.own_loops() > own_loops_before_};
}

}  // namespace fedarena
