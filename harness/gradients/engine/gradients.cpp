#include "harness/gradients/engine/gradients.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <limits>
#include <malloc.h>
#include <numeric>
#include <optional>
#include <vector>

#include <ATen/Parallel.h>

#include "fedarena/base/error.hpp"

#include "harness/gradients/engine/input_gradient.hpp"
#include "harness/gradients/engine/pass.hpp"
#include "harness/gradients/engine/per_example.hpp"
#include "harness/sdk/plugin_visit.hpp"

namespace fedarena {
namespace {

// Results kept before they are folded; bounds memory for huge batches.
constexpr std::int64_t kMicroBatchesPerFold = 64;

// The second pass needs no sums, so that two workers can share a micro-batch that is alone.
constexpr std::int64_t kPartsOfTheOnlyMicroBatch = 2;

// The size of `count` examples' micro-batches, at most `largest`: where there are several, an even number of
// about the same size (but for single ones among many small ones), so that two workers end together.
std::int64_t balanced_micro_batch(std::int64_t count, std::int64_t largest) {
  if (count <= largest) return largest;
  const std::int64_t pairs = (count + 2 * largest - 1) / (2 * largest);
  return (count + 2 * pairs - 1) / (2 * pairs);
}

// Runs `compute` on every micro-batch of [0, count) on the pool and hands the results to `fold` in order.
template <typename Result, typename ComputePart, typename FoldPart>
void for_each_micro_batch(const WorkPool& pool, const GpuMemory& memory, std::int64_t count,
                          std::int64_t size, const ComputePart& compute, const FoldPart& fold) {
  if (0 < count && count <= size) {
    return memory.run(0, count, [&](std::int64_t first, std::int64_t last) {
      Result result = compute(first, last);
      fold(result);
    });
  }
  const std::int64_t pieces = (count + size - 1) / size;
  for (std::int64_t first = 0; first < pieces; first += kMicroBatchesPerFold) {
    std::vector<std::vector<Result>> results(
        static_cast<std::size_t>(std::min(kMicroBatchesPerFold, pieces - first)));
    const auto one = [&](std::size_t index) {
      const std::int64_t begin = (first + static_cast<std::int64_t>(index)) * size;
      memory.run(begin, std::min(count, begin + size), [&](std::int64_t first, std::int64_t last) {
        results[index].push_back(compute(first, last));
      });
    };
    pool.for_each(results.size(), one);
    for (std::vector<Result>& of_one : results) {
      for (Result& result : of_one) fold(result);
    }
  }
}

std::vector<std::int64_t> counts_of(const torch::Tensor& classes, std::int64_t size) {
  const torch::Tensor counts = torch::bincount(classes.to(torch::kCPU), {}, size);
  return {counts.data_ptr<std::int64_t>(), counts.data_ptr<std::int64_t>() + size};
}

ClassCounts count_classes(const torch::Tensor& predicted, const torch::Tensor& targets,
                          std::int64_t classes) {
  return {.examples = counts_of(targets, classes),
          .predicted = counts_of(predicted, classes),
          .correct = counts_of(targets.masked_select(predicted.eq(targets)), classes)};
}

void add(const std::vector<std::int64_t>& more, std::vector<std::int64_t>& sums) {
  sums.resize(std::max(sums.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

// Outputs without gradients: on a GPU by the rules, whose products add up in one way. Which of cuDNN's ways
// LibTorch takes depends on the memory that is free, and the bits on that.
torch::Tensor evaluated(const Weights& weights, const torch::Tensor& inputs) {
  return weights.at().flat().is_cpu() ? weights.model().forward(weights.at(), inputs)
                                      : outputs_by_rules(weights, inputs);
}

}  // namespace

BatchSource slices_of(const Batch& batch) {
  return [&batch](std::int64_t begin, std::int64_t end) {
    return Batch{batch.inputs.narrow(0, begin, end - begin), batch.targets.narrow(0, begin, end - begin)};
  };
}

GradientEngine::GradientEngine(const Model& model, const WorkPool& pool, std::int64_t traced_activations)
    : model_(model),
      pool_(pool),
      memory_(model),
      micro_batch_(choose_micro_batch(model)),
      traced_micro_batches_(
          std::max<std::int64_t>(1, traced_activations / (model.activations() * micro_batch_))) {}

// Mean over [0, count) from the means over micro-batches.
Params GradientEngine::fold_means(const Params& at, std::int64_t count, const PartGradient& gradient) const {
  struct Term {
    Params gradient;
    std::int64_t examples = 0;
  };
  std::optional<Params> mean;
  for_each_micro_batch<Term>(
      pool_, memory_, count, balanced_micro_batch(count, micro_batch_),
      [&](std::int64_t begin, std::int64_t end) {
        return Term{gradient(begin, end), end - begin};
      },
      [&](Term& term) {
        if (term.examples == count) {
          mean = std::move(term.gradient);
        } else {
          if (!mean) mean = zeros_like(at);
          mean->add_scaled(static_cast<double>(term.examples) / static_cast<double>(count), term.gradient);
        }
      });
  return *std::move(mean);
}

Params GradientEngine::mean_gradient(const Params& at, std::int64_t count, const BatchSource& source) const {
  FEDARENA_CHECK(count, >=, 1);
  meter_.add({.gradients = count});
  const Weights weights(model_, at);
  return fold_means(at, count, [&](std::int64_t begin, std::int64_t end) {
    return mean_by_rules(weights, source(begin, end));
  });
}

torch::Tensor GradientEngine::input_gradient(const Params& at, const Batch& batch,
                                             const Compute::Slope& slope) const {
  const std::int64_t count = batch.size();
  FEDARENA_CHECK(count, >=, 1);
  meter_.add({.gradients = count, .second_passes = count});
  const bool by_rules = has_second_pass(model_);
  const std::int64_t size = balanced_micro_batch(count, micro_batch_),
                     micro_batches = (count + size - 1) / size;
  std::vector<Trace> traces(by_rules ? std::min(micro_batches, traced_micro_batches_) : 0);
  const Weights weights(model_, at);
  const BatchSource source = slices_of(batch);
  const Params gradient = fold_means(at, count, [&](std::int64_t begin, std::int64_t end) {
    const auto index = static_cast<std::size_t>(begin / size);
    const bool whole = begin % size == 0 && end == std::min(count, begin + size);
    if (!whole || index >= traces.size()) return mean_by_rules(weights, source(begin, end));
    Trace trace;
    Params result = mean_by_rules(weights, source(begin, end), &trace);
    traces[index] = std::move(trace);
    return result;
  });
  const Params direction = slope(gradient);
  model_.check(direction);

  std::optional<SecondPass> second;
  if (by_rules) {
    Trace one;  // where memory was too small for the first micro-batch: of its first example
    if (traces.front().steps.empty()) mean_by_rules(weights, source(0, 1), &one);
    second.emplace(model_, direction, one.steps.empty() ? traces.front() : one, pool_);
  }
  // Of the mean loss over micro-batch [first, last), in examples [begin, end) of it.
  const auto compute = [&](std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) {
    const auto index = static_cast<std::size_t>(first / size);
    if (index < traces.size() && !traces[index].steps.empty()) {
      return second->run(traces[index].examples(begin - first, end - first), last - first);
    }
    const Batch examples = source(begin, end);
    const double share = static_cast<double>(end - begin) / static_cast<double>(last - first);
    if (!by_rules) return input_gradient_by_autograd(model_, at, direction, examples) * share;
    Trace trace;  // the first pass has left none
    mean_by_rules(weights, examples, &trace);
    return second->run(trace, examples.size()) * share;
  };
  torch::Tensor result = torch::empty_like(batch.inputs);
  const std::int64_t parts = by_rules && micro_batches == 1 ? kPartsOfTheOnlyMicroBatch : 1;
  pool_.for_each(static_cast<std::size_t>(micro_batches * parts), [&](std::size_t piece) {
    const std::int64_t part = static_cast<std::int64_t>(piece) % parts;
    const std::int64_t first = static_cast<std::int64_t>(piece) / parts * size,
                       last = std::min(count, first + size);
    const auto cut = [&](std::int64_t after) { return first + (last - first) * after / parts; };
    if (cut(part) == cut(part + 1)) return;
    const double share = static_cast<double>(last - first) / static_cast<double>(count);
    memory_.run(cut(part), cut(part + 1), [&](std::int64_t begin, std::int64_t end) {
      result.narrow(0, begin, end - begin).copy_(compute(first, last, begin, end) * share);
    });
  });
  return result;
}

ClippedSum GradientEngine::clipped_gradient_sum(const Params& at, double clip_norm, std::int64_t count,
                                                const BatchSource& source) const {
  FEDARENA_CHECK(clip_norm, >=, 0);
  FEDARENA_CHECK(count, >=, 0);
  require_per_example_gradients(model_.architecture());
  meter_.add({.gradients = count});
  const Weights weights(model_, at);
  ClippedSum total{.sum = zeros_like(at)};
  for_each_micro_batch<ClippedSum>(
      pool_, memory_, count, balanced_micro_batch(count, micro_batch_),
      [&](std::int64_t begin, std::int64_t end) {
        const FreshTorchState as_in_a_new_thread;
        return clipped_by_rules(weights, clip_norm, source(begin, end));
      },
      [&](ClippedSum& part) {
        total.sum += part.sum;
        total.clipped += part.clipped;
      });
  return total;
}

Score& Score::operator+=(const Score& more) {
  loss_sum += more.loss_sum;
  correct += more.correct;
  examples += more.examples;
  add(more.by_class.examples, by_class.examples);
  add(more.by_class.predicted, by_class.predicted);
  add(more.by_class.correct, by_class.correct);
  return *this;
}

Score GradientEngine::evaluate(const Params& at, std::int64_t count, const BatchSource& source) const {
  meter_.add({.evaluations = count});
  const Weights weights(model_, at);
  Score total;
  for_each_micro_batch<Score>(
      pool_, memory_, count, micro_batch_,
      [&](std::int64_t begin, std::int64_t end) {
        const torch::NoGradGuard no_graph;
        const Batch batch = source(begin, end);
        const torch::Tensor outputs = evaluated(weights, batch.inputs);
        Score part;
        part.examples = end - begin;
        part.loss_sum = model_.losses(outputs, batch.targets).to(torch::kFloat64).sum().item<double>();
        if (!batch.targets.is_floating_point()) {
          part.by_class = count_classes(outputs.argmax(1), batch.targets, outputs.size(1));
          part.correct = std::reduce(part.by_class.correct.begin(), part.by_class.correct.end());
        }
        return part;
      },
      [&](Score& part) { total += part; });
  return total;
}

// Fills rows [0, count) of `all` with those of every micro-batch, on any thread, in any order.
torch::Tensor GradientEngine::filled(const torch::Tensor& all, const PartRows& rows) const {
  const std::int64_t count = all.size(0), size = balanced_micro_batch(count, micro_batch_);
  pool_.for_each(static_cast<std::size_t>((count + size - 1) / size), [&](std::size_t index) {
    const std::int64_t first = static_cast<std::int64_t>(index) * size;
    memory_.run(first, std::min(count, first + size), [&](std::int64_t begin, std::int64_t end) {
      all.narrow(0, begin, end - begin).copy_(rows(begin, end));
    });
  });
  return all;
}

torch::Tensor GradientEngine::outputs(const Params& at, const torch::Tensor& inputs) const {
  meter_.add({.evaluations = inputs.size(0)});
  const Weights weights(model_, at);
  return filled(torch::empty({inputs.size(0), model_.num_classes()}, model_.options()),
                [&](std::int64_t begin, std::int64_t end) {
                  return outputs_by_rules(weights, inputs.narrow(0, begin, end - begin));
                });
}

Compute::OutputGradient GradientEngine::output_gradient(const Params& at, const torch::Tensor& inputs,
                                                        const torch::Tensor& slopes) const {
  using OutputGradient = Compute::OutputGradient;
  const std::int64_t count = inputs.size(0);
  FEDARENA_CHECK(count, >=, 1);
  FEDARENA_CHECK(slopes.size(0), ==, count);
  meter_.add({.gradients = count});
  const Weights weights(model_, at);
  OutputGradient total{zeros_like(at), torch::empty_like(inputs)};
  for_each_micro_batch<OutputGradient>(
      pool_, memory_, count, balanced_micro_batch(count, micro_batch_),
      [&](std::int64_t begin, std::int64_t end) {
        OutputGradient part = output_gradient_by_rules(weights, inputs.narrow(0, begin, end - begin),
                                                       slopes.narrow(0, begin, end - begin));
        total.inputs.narrow(0, begin, end - begin).copy_(part.inputs);
        return part;
      },
      [&](OutputGradient& part) { total.parameters += part.parameters; });
  return total;
}

torch::Tensor GradientEngine::losses(const Params& at, std::int64_t count, const BatchSource& source) const {
  meter_.add({.evaluations = count});
  const Weights weights(model_, at);
  return filled(torch::empty({count}, torch::kFloat64), [&](std::int64_t begin, std::int64_t end) {
    const torch::NoGradGuard no_graph;
    const Batch batch = source(begin, end);
    // In single precision, the losses of whatever a model is nearly sure of are all zero.
    const torch::Tensor targets =
        batch.targets.is_floating_point() ? batch.targets.to(torch::kFloat64) : batch.targets;
    return model_.losses(evaluated(weights, batch.inputs).to(torch::kFloat64), targets);
  });
}

torch::Tensor GradientEngine::gradient_norms(const Params& at, std::int64_t count,
                                             const BatchSource& source) const {
  require_per_example_gradients(model_.architecture());
  meter_.add({.gradients = count});
  const Weights weights(model_, at);
  return filled(torch::empty({count}, torch::kFloat64), [&](std::int64_t begin, std::int64_t end) {
    return norms_by_rules(weights, source(begin, end));
  });
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

void use_torch_threads(int count) {
  at::set_num_threads(count);
  // OpenBLAS has threads of its own that LibTorch does not govern; several workers that call it at once would
  // wait for each other's (measured: 12 times slower). It is there or not depending on the LibTorch, so it is
  // asked by name.
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(count);
  }
}

}  // namespace fedarena
