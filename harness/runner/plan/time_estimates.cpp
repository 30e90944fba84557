#include "harness/runner/plan/time_estimates.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <variant>

#include "fedarena/base/stream.hpp"

#include "harness/gradients/cuda/lane.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/example_reader.hpp"
#include "harness/runner/cell_setup.hpp"

namespace fedarena {
namespace {

using Clock = std::chrono::steady_clock;

// Forward passes take about a third of a gradient.
constexpr double kForwardShare = 1.0 / 3;

// 0 where the algorithm has no such setting.
std::int64_t number(const Settings& settings, std::string_view name) {
  const auto* found = find_setting<std::int64_t>(settings, name);
  return found == nullptr ? 0 : *found;
}

}  // namespace

DealtShares dealt_shares(const PlannedCell& cell, SharedInputs& inputs) {
  const Experiment& experiment = cell.point->experiment;
  const auto dealt = inputs.dealt(experiment, cell.seed);
  DealtShares shares{.clients = std::ssize(dealt->partition)};
  for (const auto& shard : dealt->partition) shares.examples += std::ssize(shard);
  shares.cohort = experiment.cohort_size(shares.clients);
  return shares;
}

TimeEstimate TimeEstimates::of(const PlannedCell& cell) {
  const auto known = estimates_.find(cell.algorithm);
  return known != estimates_.end() ? known->second
                                   : estimates_.emplace(cell.algorithm, estimate(cell)).first->second;
}

TimeEstimate TimeEstimates::estimate(const PlannedCell& cell) {
  const Experiment& experiment = cell.point->experiment;
  const Settings& settings = cell.algorithm->settings;
  const DealtShares shares = dealt_shares(cell, inputs_);
  const auto cohort = static_cast<double>(shares.cohort), rounds = static_cast<double>(experiment.rounds);
  const double shard = static_cast<double>(shares.examples) / static_cast<double>(shares.clients);
  const auto* epochs = find_setting<std::int64_t>(settings, "local_epochs");
  const auto steps = static_cast<double>(number(settings, "local_steps"));
  const std::int64_t batch_size = number(settings, "batch_size");
  const double batch = batch_size > 0 ? static_cast<double>(batch_size) : shard;
  const double read =
      steps > 0 ? steps * batch : static_cast<double>(epochs == nullptr ? 1 : *epochs) * shard;

  const GradientEngine engine(inputs_.model(experiment), pool_);
  const auto workers = static_cast<double>(pool_.workers());
  // Workers share clients and micro-batches, which are not divided.
  const double pieces = cohort * std::max(1.0, std::ceil(batch / static_cast<double>(engine.micro_batch())));
  const bool clipped = std::holds_alternative<RecordPolicy>(policy_of(*cell.algorithm));
  const double training = rounds * cohort * read * seconds_an_example(experiment, clipped, batch_size) /
                          std::min(workers, pieces);

  const Dataset& dataset = inputs_.dataset(experiment);
  const auto tested = static_cast<double>(dataset.test.size() + dataset.validation.size());
  const double evaluations = std::max(1.0, rounds / static_cast<double>(experiment.evaluation.every));
  const double testing =
      evaluations * tested * kForwardShare * seconds_an_example(experiment, false, 0) / workers;
  return {.seconds = training + testing, .least = epochs == nullptr};
}

// Of the gradient of a batch (0: a full micro-batch, which it is at most), `clipped` example by example or
// not; on one core.
double TimeEstimates::seconds_an_example(const Experiment& experiment, bool clipped,
                                         std::int64_t batch_size) {
  const Model& model = inputs_.model(experiment);
  const Dataset& dataset = inputs_.dataset(experiment);
  const GradientEngine engine(model, pool_);
  // Small batches cost more an example than full micro-batches.
  std::int64_t count = std::min(engine.micro_batch(), dataset.train.size());
  if (batch_size > 0) count = std::min(count, batch_size);
  const auto [known, fresh] =
      measured_.emplace(std::tuple(&model, clipped, count), std::numeric_limits<double>::infinity());
  if (!fresh) return known->second;
  const ExampleReader reader(dataset, model.options());
  const Batch batch = reader.read(dataset.train, torch::arange(count, torch::kInt64));
  const auto source = [&](std::int64_t begin, std::int64_t end) {
    return Batch{batch.inputs.slice(0, begin, end), batch.targets.slice(0, begin, end)};
  };
  Stream stream({.seed = 0, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
  const Params params = model.initial(stream);
  // The least: the first pays for memory and code that are used for the first time, and others share the
  // machine.
  constexpr int kTurns = 5;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto start = Clock::now();
    if (clipped) {
      engine.clipped_gradient_sum(params, 1, count, source);
    } else {
      engine.mean_gradient(params, count, source);
    }
    cuda::wait_for(model.options().device());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    known->second = std::min(known->second, seconds / static_cast<double>(count));
  }
  return known->second;
}

}  // namespace fedarena
