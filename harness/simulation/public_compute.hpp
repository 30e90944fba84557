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
  /// What the engine does not count, of all objects that came from one by `on`.
  struct Elsewhere {
    /// How often an algorithm asked itself whether to stop: a sign of loops that nobody counts.
    std::int64_t own_loops = 0;
    /// Examples' gradients of other networks, and their floating-point operations.
    std::int64_t gradients = 0, operations = 0;

    Elsewhere& operator-=(const Elsewhere& other);
  };

  PublicCompute(const GradientEngine& engine, const std::atomic<bool>& stop);
  /// The same for a client whose votes have private examples in their hands while `casting_votes`: then it is
  /// an Error to ask for anything but stop_if_interrupted, which counts nothing, since what a round computes
  /// is published. Both outlive this, and what `on` makes of it.
  PublicCompute(const PublicCompute& origin, const bool& casting_votes);

  std::unique_ptr<Compute> on(const Model& model) const override;
  Params gradient(const Params& at, const Batch& batch) const override;
  torch::Tensor input_gradient(const Params& at, const Batch& batch, const Slope& slope) const override;
  torch::Tensor outputs(const Params& at, const torch::Tensor& inputs) const override;
  OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                 const torch::Tensor& slopes) const override;
  void stop_if_interrupted() const override;

  Elsewhere elsewhere() const;
  /// Counts what was done on another rank.
  void credit(const Elsewhere& more) const;

 private:
  struct Counters {
    std::atomic<std::int64_t> own_loops = 0, gradients = 0, operations = 0;
  };
  PublicCompute(std::unique_ptr<const GradientEngine> engine, const PublicCompute& origin);
  bool in_vote() const { return casting_votes_ != nullptr && *casting_votes_; }
  // Counts work; throws in place of it in a vote, and Interrupted once the run is to stop.
  void begin(const Work& work) const;

  std::unique_ptr<const GradientEngine> own_engine_;  // of another network than the run's
  const GradientEngine& engine_;
  Operations operations_;
  const std::atomic<bool>& stop_;
  std::shared_ptr<Counters> counters_;
  const bool* casting_votes_ = nullptr;  // nullptr: there are none
};

/// What a round takes to compute: all that passes through the engine, or through those of other networks,
/// between its construction and `cost()`.
/// Floating-point operations follow from the model and the numbers of examples, whatever the passes do to
/// save some of them. Clipping, noise, optimisers and aggregation do not count.
class CostMeter {
 public:
  CostMeter(const Model& model, const GradientEngine& engine, const PublicCompute& compute);

  results::Cost cost() const;

 private:
  Operations operations_;
  const GradientEngine& engine_;
  const PublicCompute& compute_;
  Work work_before_;
  PublicCompute::Elsewhere elsewhere_before_;
};

}  // namespace fedarena
