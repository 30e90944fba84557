#pragma once

#include "fedarena/compute.hpp"

namespace fedarena {

/// For algorithms that compute nothing on synthetic data.
class NoCompute final : public Compute {
 public:
  Params gradient(const Params& at, const Batch&) const override { return zeros_like(at); }
  torch::Tensor input_gradient(const Params&, const Batch& batch, const Slope&) const override {
    return torch::zeros_like(batch.inputs);
  }
  void stop_if_interrupted() const override {}
};

}  // namespace fedarena
