#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"

#include "harness/gradients/engine/pass.hpp"
#include "harness/gradients/rules/tangent_rule.hpp"

namespace fedarena {

/// Whether SecondPass takes the model: all of its layers have tangent rules, and those work on its device.
bool has_second_pass(const Model& model);

/// Gradients in the inputs of <direction, gradient of the mean loss>, by forward and backward passes of
/// tangents after a first pass: no step of them is differentiated.
class SecondPass {
 public:
  /// `trace`: of any examples, for its parameters and shapes. The layers are prepared on the pool.
  SecondPass(const Model& model, const Params& direction, const Trace& trace, const WorkPool& pool);

  /// Of the examples of `trace`, which was left by a pass over the mean loss of `examples` (they may be
  /// more), on this thread.
  torch::Tensor run(const Trace& trace, std::int64_t examples) const;

 private:
  torch::Tensor loss_tangents(const torch::Tensor& outputs, const torch::Tensor& output_tangents) const;

  Loss loss_;
  std::vector<std::unique_ptr<TangentRule>> rules_;  // nullptr of a mark (marks.hpp)
};

/// The same of a whole micro-batch by differentiating twice: for any layer and any device. Zero where the
/// gradient does not depend on the inputs, as on the indices of an embedding.
torch::Tensor input_gradient_by_autograd(const Model& model, const Params& at, const Params& direction,
                                         const Batch& batch);

}  // namespace fedarena
