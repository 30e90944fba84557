#pragma once

#include <functional>
#include <memory>

#include "fedarena/base/export.hpp"
#include "fedarena/model.hpp"
#include "fedarena/params.hpp"

namespace fedarena {

/// Outputs and derivatives of the run's model on data that hides nobody: public or synthetic. They cost no
/// privacy and are not metered; a client's own examples are reached through its Oracle alone. Batches are cut
/// into fixed micro-batches that all of the run's workers share: the same bits for any number of them.
class FEDARENA_API Compute {
 public:
  virtual ~Compute() = default;

  /// The same for another network, such as a generator: its operations count in the same round. `model` and
  /// this object must outlive the result.
  virtual std::unique_ptr<Compute> on(const Model& model) const = 0;

  /// dD/dg of a scalar D at the gradient g, in g's layout.
  using Slope = std::function<Params(const Params& gradient)>;

  /// Gradient of the mean loss over the batch, which holds at least one example.
  virtual Params gradient(const Params& at, const Batch& batch) const = 0;
  /// Gradient of D(g) in the batch's inputs, in their shape, where g is the gradient of the mean loss over
  /// the batch and `slope` returns dD/dg; called once. The second derivatives that gradient matching descends
  /// on (Zhao, Mopuri, Bilen, ICLR 2021).
  virtual torch::Tensor input_gradient(const Params& at, const Batch& batch, const Slope& slope) const = 0;

  /// Outputs [n, outputs] for inputs [n, input shape...], n >= 0, without a graph to differentiate.
  virtual torch::Tensor outputs(const Params& at, const torch::Tensor& inputs) const = 0;
  struct OutputGradient {
    Params parameters;
    torch::Tensor inputs;  ///< in their shape; zero in inputs that are indices
  };
  /// Gradients of <slopes, outputs>, where `slopes` [n, outputs] are held fixed and n >= 1: those of any loss
  /// on the outputs, given its derivatives there.
  virtual OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                         const torch::Tensor& slopes) const = 0;

  /// Throws Interrupted once the user has stopped the run, as the calls above do. For long loops that make no
  /// call of theirs or of an Oracle, such as those that differentiate with LibTorch itself: nobody counts
  /// their operations, so a round that makes this call is recorded as having taken at least what was counted.
  virtual void stop_if_interrupted() const = 0;
};

}  // namespace fedarena
