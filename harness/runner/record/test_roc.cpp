#include "harness/runner/record/test_roc.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "fedarena/base/error.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/example_reader.hpp"

namespace fedarena {
namespace {

// The probability of each class in each test example, [classes, examples].
torch::Tensor class_scores(const Params& params, const Dataset& dataset, const Model& model,
                           const WorkPool& pool, const std::atomic<bool>& stop) {
  const ExampleReader reader(dataset, model.options());
  // In the micro-batches of evaluations, whose size depends on the model alone.
  const std::int64_t size = GradientEngine(model, pool).micro_batch();
  const std::int64_t count = dataset.test.size();
  torch::Tensor scores = torch::empty({dataset.classes, count}, torch::kFloat64);
  pool.for_each(static_cast<std::size_t>((count + size - 1) / size), [&](std::size_t index) {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
    const torch::NoGradGuard no_graph;
    const std::int64_t begin = static_cast<std::int64_t>(index) * size, end = std::min(count, begin + size);
    const Batch batch = reader.read(dataset.test, torch::arange(begin, end, torch::kInt64));
    const torch::Tensor outputs = model.forward(params, batch.inputs).to(torch::kCPU, torch::kFloat64);
    scores.narrow(1, begin, end - begin).copy_(outputs.softmax(1).t());
  });
  return scores;
}

}  // namespace

std::optional<results::TestRoc> test_roc(const Params& params, const Dataset& dataset, const Model& model,
                                         const WorkPool& pool, const std::atomic<bool>& stop) {
  if (dataset.classes == 0 || dataset.test.size() == 0) return std::nullopt;
  const torch::Tensor scores = class_scores(params, dataset, model, pool, stop);
  const auto examples = static_cast<std::size_t>(dataset.test.size());
  const std::span<const std::int64_t> labels(dataset.test.targets.data_ptr<std::int64_t>(), examples);
  results::TestRoc roc{.examples = dataset.test.size(),
                       .classes = std::vector<results::ClassRoc>(static_cast<std::size_t>(dataset.classes))};
  pool.for_each(roc.classes.size(), [&](std::size_t label) {
    const double* first = scores.data_ptr<double>() + label * examples;
    roc.classes[label] = results::class_roc({first, examples}, labels, static_cast<std::int64_t>(label));
  });
  return roc;
}

}  // namespace fedarena
