#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fedarena/base/pool.hpp"
#include "fedarena/compute.hpp"
#include "fedarena/model.hpp"

#include "harness/gradients/engine/micro_batch.hpp"
#include "harness/gradients/engine/work.hpp"

namespace fedarena {

/// Hands out examples [begin, end) of something longer; called from several threads at once.
using BatchSource = std::function<Batch(std::int64_t begin, std::int64_t end)>;
/// Those of a batch, which outlives it.
BatchSource slices_of(const Batch& batch);

/// How often each class is the true one, the largest output, and both; [classes] each, empty for a
/// regression.
struct ClassCounts {
  std::vector<std::int64_t> examples, predicted, correct;
};

/// Sums over examples.
struct Score {
  double loss_sum = 0;
  std::int64_t correct = 0;  ///< examples whose largest output is their class; 0 for a regression
  std::int64_t examples = 0;
  ClassCounts by_class;  ///< empty when there are no examples

  Score& operator+=(const Score& more);
};

/// Sum of clipped per-example gradients.
struct ClippedSum {
  Params sum;
  /// Examples whose gradient was longer than the bound, or not finite: those whose contribution is not their
  /// gradient.
  std::int64_t clipped = 0;
};

/// Gradients and evaluations of one model on a pool of workers. Examples are cut into micro-batches whose
/// size depends on the model alone, each runs on one thread with its activations in cache, and their results
/// are folded in order: the same bits for any number of workers.
class GradientEngine {
 public:
  /// `traced_activations`: numbers of forward passes whose intermediate results input_gradient may keep for
  /// its second pass (about as many numbers); beyond them it computes them again. Bounds memory.
  GradientEngine(const Model& model, const WorkPool& pool, std::int64_t traced_activations = 128'000'000);

  /// Examples of a micro-batch at most.
  std::int64_t micro_batch() const { return micro_batch_; }
  /// Gradient of the mean loss over examples [0, count); count >= 1.
  Params mean_gradient(const Params& at, std::int64_t count, const BatchSource& source) const;
  /// Gradient in the batch's inputs, in their shape, of <slope(g), gradient of the mean loss>, where g is
  /// that gradient, to the bit as mean_gradient gives it, and slope(g) is held fixed: the gradient of D(g)
  /// where slope(g) = dD/dg. `slope` is called once, on this thread. By a second pass of tangents where the
  /// model has rules for it (has_second_pass; rounding of the order of single precision's 1e-6), by
  /// differentiating twice through other models; zero in inputs that are indices. Error when slope(g) is of
  /// another layout.
  torch::Tensor input_gradient(const Params& at, const Batch& batch, const Compute::Slope& slope) const;
  /// Sum over examples [0, count) of g_i * min(1, clip_norm / ||g_i||), where g_i is the gradient of the i-th
  /// loss in all parameters together (Abadi et al. 2016, algorithm 1, before the noise). clip_norm >= 0, and
  /// infinity gives the plain sum; count >= 0. A gradient with NaN or infinite parts contributes nothing. The
  /// norm of every contribution is at most clip_norm, rounding included: factors below one are smaller than
  /// stated by 2^-19 (single precision) or 2^-40 (double), which is more than norms, factors and products
  /// lose. What the sum of contributions loses is not covered. Error when the model has a BatchNorm layer.
  ClippedSum clipped_gradient_sum(const Params& at, double clip_norm, std::int64_t count,
                                  const BatchSource& source) const;
  /// Outputs for inputs [n, input shape...]: [n, outputs].
  torch::Tensor outputs(const Params& at, const torch::Tensor& inputs) const;
  /// Gradients of <slopes, outputs(at, inputs)> in parameters and inputs, `slopes` held fixed; n >= 1.
  Compute::OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                          const torch::Tensor& slopes) const;
  /// Loss and top-1 over examples [0, count).
  Score evaluate(const Params& at, std::int64_t count, const BatchSource& source) const;
  /// The loss of each of the examples [0, count): float64 [count] on the CPU.
  torch::Tensor losses(const Params& at, std::int64_t count, const BatchSource& source) const;
  /// The length of the gradient of each example's loss in all parameters together, before any clipping:
  /// float64 [count] on the CPU, infinite where the gradient has parts that are not finite. Error when the
  /// model has a BatchNorm layer.
  torch::Tensor gradient_norms(const Params& at, std::int64_t count, const BatchSource& source) const;

  const Model& model() const { return model_; }
  const WorkPool& pool() const { return pool_; }
  /// What all calls so far were asked for. A pass that is repeated to save memory counts once.
  Work work() const { return meter_.total(); }
  /// Counts what was computed elsewhere for the same run.
  void credit(const Work& work) const { meter_.add(work); }

 private:
  using PartGradient = std::function<Params(std::int64_t begin, std::int64_t end)>;
  using PartRows = std::function<torch::Tensor(std::int64_t begin, std::int64_t end)>;
  torch::Tensor filled(const torch::Tensor& all, const PartRows& rows) const;
  Params fold_means(const Params& at, std::int64_t count, const PartGradient& gradient) const;

  const Model& model_;
  const WorkPool& pool_;
  GpuMemory memory_;
  std::int64_t micro_batch_;
  std::int64_t traced_micro_batches_;  // at least one
  mutable WorkMeter meter_;
};

/// Call once before a run: freed activations stay with the process instead of going back to the system.
void keep_freed_memory();

/// LibTorch and BLAS then use so many threads where this thread calls them.
void use_torch_threads(int count);
/// Call on every worker's thread: they use this thread only.
inline void use_one_torch_thread() { use_torch_threads(1); }

}  // namespace fedarena
