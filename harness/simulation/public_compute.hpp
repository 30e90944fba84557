#pragma once

#include <atomic>
#include <cstdint>

#include "fedarena/compute.hpp"

#include "harness/gradients/engine/gradients.hpp"

namespace fedarena {

/// What clients and server compute on public or synthetic data in a run; throws Interrupted once it is to
/// stop.
class PublicCompute final : public Compute {
 public:
  PublicCompute(const GradientEngine& engine, const std::atomic<bool>& stop) : engine_(engine), stop_(stop) {}

  Params gradient(const Params& at, const Batch& batch) const override;
  torch::Tensor input_gradient(const Params& at, const Batch& batch, const Slope& slope) const override;
  void stop_if_interrupted() const override;
  /// How often an algorithm asked itself whether to stop: a sign of loops that the engine does not count.
  std::int64_t own_loops() const { return own_loops_.load(std::memory_order_relaxed); }
  /// Counts those on another rank.
  void credit(std::int64_t own_loops) const { own_loops_.fetch_add(own_loops, std::memory_order_relaxed); }

 private:
  void check_stop() const;

  const GradientEngine& engine_;
  const std::atomic<bool>& stop_;
  mutable std::atomic<std::int64_t> own_loops_ = 0;
};

}  // namespace fedarena
