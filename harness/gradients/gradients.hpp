#pragma once

#include <cstdint>
#include <functional>

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"

namespace fedarena {

/// Hands out examples [begin, end) of something longer; called from several threads at once.
using BatchSource = std::function<Batch(std::int64_t begin, std::int64_t end)>;

/// Sums over examples.
struct Score {
  double loss_sum = 0;
  std::int64_t correct = 0;  ///< examples whose largest output is their class; 0 for a regression
  std::int64_t examples = 0;
};

/// Gradients and evaluations of one model on a pool of workers. Examples are cut into micro-batches whose
/// size depends on the model alone, each runs on one thread with its activations in cache, and their results
/// are folded in order: the same bits for any number of workers.
class GradientEngine {
 public:
  GradientEngine(const Model& model, const WorkPool& pool);

  /// Examples of a micro-batch.
  std::int64_t micro_batch() const { return micro_batch_; }
  /// Gradient of the mean loss over examples [0, count); count >= 1.
  Params mean_gradient(const Params& at, std::int64_t count, const BatchSource& source) const;
  /// Loss and top-1 over examples [0, count).
  Score evaluate(const Params& at, std::int64_t count, const BatchSource& source) const;

 private:
  const Model& model_;
  const WorkPool& pool_;
  std::int64_t micro_batch_;
};

/// Call once before a run: freed activations stay with the process instead of going back to the system.
void keep_freed_memory();

/// Call on every worker's thread: LibTorch and BLAS then use this thread only.
void use_one_torch_thread();

}  // namespace fedarena
