#pragma once

#include <string>

#include "fedarena/model.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/gradients/engine/pass.hpp"

namespace fedarena {

/// Error, with the reason and what to use, when the gradients of the model's examples depend on each other
/// (batch normalisation): clipping them one by one then bounds no example's influence.
void require_per_example_gradients(const Architecture& architecture);

/// A sentence that says which layers have no per-example rule, and that gradients are therefore taken one
/// example at a time; empty when every layer has a rule.
std::string per_example_warning(const Model& model);

/// GradientEngine::clipped_gradient_sum of one micro-batch, on this thread. By rules where the model has them
/// (has_rules); an example whose numbers are extreme goes through clipped_one_by_one.
ClippedSum clipped_by_rules(const Weights& weights, double clip_norm, const Batch& batch);

/// GradientEngine::gradient_norms of one micro-batch, on this thread, by the same ways.
torch::Tensor norms_by_rules(const Weights& weights, const Batch& batch);

/// Gradient of the mean loss of one micro-batch, on this thread: Model::gradient by the same rules, without
/// autograd, where the model has them; `trace`, where there is one, is then filled.
Params mean_by_rules(const Weights& weights, const Batch& batch, Trace* trace = nullptr);

/// The same as clipped_by_rules, with one autograd pass an example: for any layer and any numbers.
ClippedSum clipped_one_by_one(const Model& model, const Params& at, double clip_norm, const Batch& batch);

}  // namespace fedarena
