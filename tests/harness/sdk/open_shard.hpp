#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "fedarena/algorithm.hpp"
#include "fedarena/compute.hpp"

namespace fedarena {

/// A client's examples without a harness: gradients over all of them, whatever the batch size; every access
/// is noted.
class OpenShard final : public Oracle {
 public:
  OpenShard(const Model& model, Batch examples) : model_(model), examples_(std::move(examples)) {}

  Params gradient(const Params& at, const Query& /*query*/) override {
    accesses.emplace_back("gradient");
    return model_.gradient(at, examples_);
  }
  std::int64_t steps_per_epoch(std::int64_t /*batch_size*/) const override { return 1; }
  double loss(const Params& at) override {
    accesses.emplace_back("loss");
    return model_.loss(at, examples_).item<double>();
  }
  torch::Tensor label_counts() override {
    accesses.emplace_back("label counts");
    return counts();
  }
  torch::Tensor held_classes() override {
    accesses.emplace_back("classes");
    return counts().nonzero().flatten();
  }
  Batch exact_batch() override {
    accesses.emplace_back("examples");
    return examples_;
  }
  /// The labels themselves.
  torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& /*prior*/,
                                    double /*epsilon*/) override {
    accesses.emplace_back("synthetic labels");
    return labels.clone();
  }
  std::int64_t size() const override { return examples_.size(); }

  std::vector<std::string> accesses;

 private:
  torch::Tensor counts() const { return at::bincount(examples_.targets, {}, model_.num_classes()); }

  const Model& model_;
  Batch examples_;
};

/// For algorithms that compute nothing on synthetic data.
class NoCompute : public Compute {
 public:
  std::unique_ptr<Compute> on(const Model&) const override { return std::make_unique<NoCompute>(); }
  Params gradient(const Params& at, const Batch&) const override { return zeros_like(at); }
  torch::Tensor input_gradient(const Params&, const Batch& batch, const Slope&) const override {
    return torch::zeros_like(batch.inputs);
  }
  torch::Tensor outputs(const Params&, const torch::Tensor& inputs) const override { return inputs; }
  OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                 const torch::Tensor&) const override {
    return {zeros_like(at), torch::zeros_like(inputs)};
  }
  void stop_if_interrupted() const override {}
};

}  // namespace fedarena
