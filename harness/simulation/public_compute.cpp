#include "harness/simulation/public_compute.hpp"

#include "fedarena/base/error.hpp"

namespace fedarena {

Params PublicCompute::gradient(const Params& at, const Batch& batch) const {
  check_stop();
  return engine_.mean_gradient(at, batch.size(), [&](std::int64_t begin, std::int64_t end) {
    return Batch{batch.inputs.narrow(0, begin, end - begin), batch.targets.narrow(0, begin, end - begin)};
  });
}

torch::Tensor PublicCompute::input_gradient(const Params& at, const Batch& batch, const Slope& slope) const {
  check_stop();
  return engine_.input_gradient(at, batch, slope);
}

void PublicCompute::stop_if_interrupted() const {
  own_loops_.fetch_add(1, std::memory_order_relaxed);
  check_stop();
}

void PublicCompute::check_stop() const {
  if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace fedarena
