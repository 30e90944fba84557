#include "harness/simulation/public_compute.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "harness/sdk/sendable.hpp"

namespace fedarena {
namespace {

// Of what an engine was asked for, each example's as `operations` says.
std::int64_t operations_of(const Work& work, const Operations& operations) {
  const std::int64_t second_pass = operations.input_gradient - operations.gradient;
  return work.gradients * operations.gradient + work.second_passes * second_pass +
         work.evaluations * operations.forward;
}

std::string text_of(torch::IntArrayRef shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// Kernels go by the model's shapes: beyond what they are given lie other numbers.
void check_tensor(const char* what, const torch::Tensor& tensor, torch::IntArrayRef allowed,
                  const torch::TensorOptions& options) {
  if (const std::string why = unsendable(tensor); !why.empty()) throw Error::of("{} {}", what, why);
  if (tensor.sizes() != allowed)
    throw Error(Complaint{.found = fmt::format("{} have the shape {}", what, text_of(tensor.sizes())),
                          .allowed = fmt::format("{}, as the model is made for", text_of(allowed))});
  if (tensor.scalar_type() != options.dtype() || tensor.device() != options.device())
    throw Error(Complaint{.found = fmt::format("{} are of type {} on {}", what,
                                               torch::toString(tensor.scalar_type()), tensor.device().str()),
                          .allowed = "the model's type and device"});
}

void check_inputs(const Model& model, const Params& at, const torch::Tensor& inputs) {
  if (at.empty() || at.layout()->fingerprint() != model.layout()->fingerprint())
    throw Error::of("parameters that the client's or the server's compute is asked at are not the model's");
  const std::int64_t count = inputs.defined() && inputs.dim() > 0 ? inputs.size(0) : 0;
  check_tensor("inputs", inputs, model.input_shape(count), model.options());
}

void check_batch(const Model& model, const Params& at, const Batch& batch) {
  check_inputs(model, at, batch.inputs);
  const std::int64_t count = batch.inputs.size(0);
  const torch::Tensor& targets = batch.targets;
  if (const std::string why = unsendable(targets); !why.empty()) throw Error::of("targets {}", why);
  const std::int64_t outputs = model.architecture().outputs;
  const bool alone = targets.sizes() == torch::IntArrayRef({count});
  if (!alone && targets.sizes() != torch::IntArrayRef({count, outputs}))
    throw Error(Complaint{.found = fmt::format("targets have the shape {}", text_of(targets.sizes())),
                          .allowed = fmt::format("[{0}] or [{0}, {1}], as many as inputs", count, outputs)});
  if (targets.scalar_type() == torch::kInt64 && count > 0 &&
      model.architecture().loss == Loss::kCrossEntropy &&
      (targets.min().item<std::int64_t>() < 0 || targets.max().item<std::int64_t>() >= outputs))
    throw Error::of("targets are not all classes of the model; allowed: 0 to {}", outputs - 1);
}

}  // namespace

PublicCompute::PublicCompute(std::unique_ptr<const GradientEngine> engine, const PublicCompute& origin)
    : own_engine_(std::move(engine)),
      engine_(*own_engine_),
      run_(origin.run_),
      operations_(count_operations(engine_.model())),
      stop_(origin.stop_),
      casting_votes_(origin.casting_votes_) {}

std::unique_ptr<Compute> PublicCompute::on(const Model& model) const {
  auto engine = std::make_unique<const GradientEngine>(model, engine_.pool());
  return std::unique_ptr<Compute>(new PublicCompute(std::move(engine), *this));
}

Params PublicCompute::gradient(const Params& at, const Batch& batch) const {
  check_batch(engine_.model(), at, batch);
  begin({.gradients = batch.size()});
  return engine_.mean_gradient(at, batch.size(), slices_of(batch));
}

torch::Tensor PublicCompute::input_gradient(const Params& at, const Batch& batch, const Slope& slope) const {
  check_batch(engine_.model(), at, batch);
  begin({.gradients = batch.size(), .second_passes = batch.size()});
  return engine_.input_gradient(at, batch, slope);
}

torch::Tensor PublicCompute::outputs(const Params& at, const torch::Tensor& inputs) const {
  check_inputs(engine_.model(), at, inputs);
  begin({.evaluations = inputs.size(0)});
  return engine_.outputs(at, inputs);
}

Compute::OutputGradient PublicCompute::output_gradient(const Params& at, const torch::Tensor& inputs,
                                                       const torch::Tensor& slopes) const {
  check_inputs(engine_.model(), at, inputs);
  check_tensor("slopes", slopes, {inputs.size(0), engine_.model().architecture().outputs},
               engine_.model().options());
  begin({.gradients = inputs.size(0)});
  return engine_.output_gradient(at, inputs, slopes);
}

void PublicCompute::stop_if_interrupted() const {
  if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
  // Votes are counted nowhere.
  if (!in_vote()) run_.credit({.own_loops = 1});
}

// The run's own engine counts for itself.
void PublicCompute::begin(const Work& work) const {
  if (in_vote()) {
    throw Error(Complaint{
        .found = "the client's public compute is asked inside of a vote, and tables tell how much "
                 "was computed",
        .allowed = "what votes answer, and nothing else, while private examples are in their hands",
        .remedy = "Ask before noisy_sum() or after it has returned; in a vote, call the model's own "
                  "functions"});
  }
  if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
  if (own_engine_)
    run_.credit({.other_gradients = work.gradients, .other_operations = operations_of(work, operations_)});
}

results::Cost CostMeter::cost() const {
  const Work work = engine_.work() - before_;
  return {.gradients = work.gradients + work.other_gradients,
          .operations = operations_of(work, count_operations(engine_.model())) + work.other_operations,
          .at_least = work.own_loops > 0};
}

}  // namespace fedarena
