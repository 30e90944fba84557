#pragma once

#include <vector>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The models of a cohort that sent changes of `start` (update_message), in client order, without those of
/// clients that hold no examples. An exact access when the run privatises whole messages.
FEDARENA_API std::vector<Params> decode_models(const Uplink& uplink, const Params& start);

/// A model taught by the mean outputs of others of its kind (Hinton, Vinyals, Dean 2015, arXiv:1503.02531):
/// T^2 KL(softmax(teachers / T) || softmax(student / T)), or half the squared distance of the outputs where
/// that is the model's loss.
class FEDARENA_API Distillation {
 public:
  /// `teachers` are not none; `temperature` > 0 is T. `model` and `compute` must outlive it.
  Distillation(const Model& model, const Compute& compute, std::vector<Params> teachers,
               double temperature = 1);

  const std::vector<Params>& teachers() const { return teachers_; }
  /// The mean of the teachers' outputs, [n, outputs].
  torch::Tensor mean_outputs(const torch::Tensor& inputs) const;
  /// Gradient of the mean over inputs of what is minimised. `lesson`: inputs, not none, and in the place of
  /// targets the teachers' mean outputs for them.
  Params gradient(const Params& student, const Batch& lesson) const;

 private:
  Params softened_gradient(const Params& student, const Batch& lesson) const;

  const Model& model_;
  const Compute& compute_;
  std::vector<Params> teachers_;
  double temperature_;
};

}  // namespace fedarena
