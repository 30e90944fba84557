#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "fedarena/compute.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/models/operations.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// What clients and server compute on public or synthetic data in a run; throws Interrupted once it is to
/// stop.
class PublicCompute final : public Compute {
 public:
  /// The run's engine counts what is done, by others that come from this by `on` too.
  PublicCompute(const GradientEngine& engine, const std::atomic<bool>& stop)
      : engine_(engine), run_(engine), stop_(stop) {}
  /// The same for a client whose votes have private examples in their hands while `casting_votes`: then it is
  /// an Error to ask for anything but stop_if_interrupted, which counts nothing, since what a round computes
  /// is published. Both outlive this, and what `on` makes of it.
  PublicCompute(const PublicCompute& origin, const bool& casting_votes)
      : engine_(origin.engine_), run_(origin.run_), stop_(origin.stop_), casting_votes_(&casting_votes) {}

  std::unique_ptr<Compute> on(const Model& model) const override;
  Params gradient(const Params& at, const Batch& batch) const override;
  torch::Tensor input_gradient(const Params& at, const Batch& batch, const Slope& slope) const override;
  torch::Tensor outputs(const Params& at, const torch::Tensor& inputs) const override;
  OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                 const torch::Tensor& slopes) const override;
  void stop_if_interrupted() const override;

 private:
  PublicCompute(std::unique_ptr<const GradientEngine> engine, const PublicCompute& origin);
  bool in_vote() const { return casting_votes_ != nullptr && *casting_votes_; }
  // Counts work; throws in place of it in a vote, and Interrupted once the run is to stop.
  void begin(const Work& work) const;

  std::unique_ptr<const GradientEngine> own_engine_;  // of another network than the run's
  const GradientEngine& engine_;
  const GradientEngine& run_;
  Operations operations_;
  const std::atomic<bool>& stop_;
  const bool* casting_votes_ = nullptr;  // nullptr: there are none
};

/// What a round takes to compute: all that the engine counts between its construction and `cost()`.
/// Floating-point operations follow from the model and the numbers of examples, whatever the passes do to
/// save some of them. Clipping, noise, optimisers and aggregation do not count.
class CostMeter {
 public:
  explicit CostMeter(const GradientEngine& engine) : engine_(engine), before_(engine.work()) {}

  results::Cost cost() const;

 private:
  const GradientEngine& engine_;
  Work before_;
};

}  // namespace fedarena
