#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <torch/types.h>

#include "fedarena/compute.hpp"
#include "fedarena/model.hpp"

#include "harness/gradients/rules/rule.hpp"
#include "harness/gradients/rules/weights.hpp"

namespace fedarena {

/// What one rule was given in a pass over some examples, for a second pass.
struct Seen {
  std::span<const Layer> layers;
  const LayerWeights* weights;  ///< of the pass's
  torch::Tensor inputs;
  torch::Tensor deltas;  ///< gradients in the outputs; undefined before the first layer with parameters
};
struct Trace {
  std::vector<Seen> steps;
  torch::Tensor outputs;

  /// Of examples [begin, end) alone; shares memory.
  Trace examples(std::int64_t begin, std::int64_t end) const;
};

/// Whether all of the model's layers have rules, and rules work on its device: the CPU, and in builds with
/// CUDA a GPU.
bool has_rules(const Model& model);

/// One pass of the rules over a micro-batch, on this thread.
class Pass {
 public:
  Pass(const Weights& weights, Want want) : weights_(weights), want_(want) {}

  /// Leaves every rule with its gradients: of the mean loss under Want::kSum, of each example's own loss
  /// otherwise. Fills `trace`, where there is one.
  void run(const Batch& batch, Trace* trace = nullptr);
  /// The first half, which returns the outputs, and the second, from gradients in the outputs to those in the
  /// inputs. The latter are undefined unless `to_inputs`, or where inputs are indices.
  torch::Tensor forward(const torch::Tensor& inputs, Trace* trace = nullptr);
  torch::Tensor backward(torch::Tensor deltas, bool to_inputs, Trace* trace = nullptr);

  std::vector<Length> lengths(std::int64_t examples) const;
  void add_sum(const kernels::Factors& factors, const Params& sum) const;

 private:
  // A rule, or none for one of the marks of a residual connection.
  struct Step {
    std::unique_ptr<Rule> rule;
    std::span<const Layer> layers;
    const LayerWeights& weights;
  };

  torch::Tensor loss_deltas(const torch::Tensor& outputs, const torch::Tensor& targets) const;

  const Weights& weights_;
  Want want_;
  std::vector<Step> steps_;
};

/// GradientEngine::outputs and output_gradient of one micro-batch, on this thread: by rules where the model
/// has them, else by LibTorch.
torch::Tensor outputs_by_rules(const Weights& weights, const torch::Tensor& inputs);
Compute::OutputGradient output_gradient_by_rules(const Weights& weights, const torch::Tensor& inputs,
                                                 const torch::Tensor& slopes);

}  // namespace fedarena
