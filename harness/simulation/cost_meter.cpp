#include "harness/simulation/cost_meter.hpp"

namespace fedarena {

CostMeter::CostMeter(const Model& model, const GradientEngine& engine, const PublicCompute& compute)
    : operations_(count_operations(model.architecture())),
      engine_(engine),
      compute_(compute),
      work_before_(engine.work()),
      elsewhere_before_(compute.elsewhere()) {}

results::Cost CostMeter::cost() const {
  Work work = engine_.work();
  work -= work_before_;
  const PublicCompute::Elsewhere elsewhere = compute_.elsewhere();
  return {
      .gradients = work.gradients + elsewhere.gradients - elsewhere_before_.gradients,
      .operations = operations_of(work, operations_) + elsewhere.operations - elsewhere_before_.operations,
      .at_least = elsewhere.own_loops > elsewhere_before_.own_loops};
}

}  // namespace fedarena
