#include "harness/gradients/gradients.hpp"

#include <algorithm>
#include <bit>
#include <dlfcn.h>
#include <limits>
#include <malloc.h>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"

#include "harness/gradients/per_example.hpp"

namespace fedarena {
namespace {

// Numbers that the forward pass of a micro-batch may write. Measured with the ConvNet on 32x32 images (0.56
// million an example): 8 examples train at 386 a second and core, 4 at 373, 16 at 352 and 32 at 270.
constexpr std::int64_t kActivationsInCache = 5'000'000;
constexpr std::int64_t kLargestMicroBatch = 256;
// A GPU wants all the work at once; this bounds its memory.
constexpr std::int64_t kGpuMicroBatch = 512;
// Results kept before they are folded; bounds memory for huge batches.
constexpr std::int64_t kMicroBatchesPerFold = 64;

std::int64_t choose_micro_batch(const Model& model) {
  if (model.options().device().is_cuda()) return kGpuMicroBatch;
  const auto fit =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, kActivationsInCache / model.activations()));
  return std::min<std::int64_t>(kLargestMicroBatch, static_cast<std::int64_t>(std::bit_floor(fit)));
}

// Runs `compute` on every micro-batch of [0, count) on the pool and hands the results to `fold` in order.
template <typename Result>
void for_each_micro_batch(const WorkPool& pool, std::int64_t count, std::int64_t size,
                          const std::function<Result(std::int64_t, std::int64_t)>& compute,
                          const std::function<void(Result&)>& fold) {
  const std::int64_t pieces = (count + size - 1) / size;
  for (std::int64_t first = 0; first < pieces; first += kMicroBatchesPerFold) {
    std::vector<Result> results(static_cast<std::size_t>(std::min(kMicroBatchesPerFold, pieces - first)));
    const auto one = [&](std::size_t index) {
      const std::int64_t begin = (first + static_cast<std::int64_t>(index)) * size;
      results[index] = compute(begin, std::min(count, begin + size));
    };
    if (results.size() == 1) {
      one(0);
    } else {
      pool.for_each(results.size(), one);
    }
    for (Result& result : results) fold(result);
  }
}

}  // namespace

GradientEngine::GradientEngine(const Model& model, const WorkPool& pool)
    : model_(model), pool_(pool), micro_batch_(choose_micro_batch(model)) {}

Params GradientEngine::mean_gradient(const Params& at, std::int64_t count, const BatchSource& source) const {
  FEDARENA_CHECK(count, >=, 1);
  if (count <= micro_batch_) return mean_by_rules(model_, at, source(0, count));
  struct Part {
    Params gradient;
    std::int64_t examples = 0;
  };
  Params mean = zeros_like(at);
  for_each_micro_batch<Part>(
      pool_, count, micro_batch_,
      [&](std::int64_t begin, std::int64_t end) {
        return Part{mean_by_rules(model_, at, source(begin, end)), end - begin};
      },
      [&](Part& part) {
        mean.add_scaled(static_cast<double>(part.examples) / static_cast<double>(count), part.gradient);
      });
  return mean;
}

torch::Tensor GradientEngine::input_gradient(const Params& at, const Batch& batch,
                                             const Compute::Slope& slope) const {
  const torch::Tensor inputs = batch.inputs.detach().requires_grad_();
  const Params gradient = model_.gradient(at, {inputs, batch.targets}, Graph::kKeep);
  const Params direction = slope(Params(gradient.layout(), gradient.flat().detach()));
  return torch::autograd::grad({gradient.flat().dot(direction.flat())}, {inputs})[0];
}

ClippedSum GradientEngine::clipped_gradient_sum(const Params& at, double clip_norm, std::int64_t count,
                                                const BatchSource& source) const {
  FEDARENA_CHECK(clip_norm, >=, 0);
  FEDARENA_CHECK(count, >=, 0);
  require_per_example_gradients(model_.architecture());
  ClippedSum total{.sum = zeros_like(at), .examples = count};
  for_each_micro_batch<ClippedSum>(
      pool_, count, micro_batch_,
      [&](std::int64_t begin, std::int64_t end) {
        return clipped_by_rules(model_, at, clip_norm, source(begin, end));
      },
      [&](ClippedSum& part) {
        total.sum += part.sum;
        total.clipped += part.clipped;
      });
  return total;
}

Score GradientEngine::evaluate(const Params& at, std::int64_t count, const BatchSource& source) const {
  Score total;
  for_each_micro_batch<Score>(
      pool_, count, micro_batch_,
      [&](std::int64_t begin, std::int64_t end) {
        const torch::NoGradGuard no_graph;
        const Batch batch = source(begin, end);
        const torch::Tensor outputs = model_.forward(at, batch.inputs);
        Score part;
        part.examples = end - begin;
        part.loss_sum = model_.losses(outputs, batch.targets).to(torch::kFloat64).sum().item<double>();
        if (!batch.targets.is_floating_point()) {
          part.correct = outputs.argmax(1).eq(batch.targets).sum().item<std::int64_t>();
        }
        return part;
      },
      [&](Score& part) {
        total.loss_sum += part.loss_sum;
        total.correct += part.correct;
        total.examples += part.examples;
      });
  return total;
}

void keep_freed_memory() {
#ifdef __GLIBC__
  // By default glibc hands blocks of this size back to the system at once and gets them again, page by page,
  // for the next layer. Measured with a 32-channel ConvNet: 500,000 page faults became 2,000 and a third of
  // the time went.
  constexpr int kNeverTrim = std::numeric_limits<int>::max();
  constexpr int kLargestOnHeap = 1 << 30;
  mallopt(M_TRIM_THRESHOLD, kNeverTrim);
  mallopt(M_MMAP_THRESHOLD, kLargestOnHeap);
#endif
}

void use_one_torch_thread() {
  at::set_num_threads(1);
  // OpenBLAS has threads of its own that LibTorch does not govern; several workers that call it at once would
  // wait for each other's (measured: 12 times slower). It is there or not depending on the LibTorch, so it is
  // asked by name.
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(1);
  }
}

}  // namespace fedarena
