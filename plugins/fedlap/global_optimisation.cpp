#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fedlap.hpp"

namespace fedlap {

using namespace fedarena;

namespace {

double middle(std::vector<double> radii) {
  std::ranges::sort(radii);
  const std::size_t half = radii.size() / 2;
  return radii.size() % 2 == 1 ? radii[half] : (radii[half - 1] + radii[half]) / 2;
}

double server_radius(const Config& config, const std::vector<double>& radii) {
  if (config.server_radius == "min") return *std::ranges::min_element(radii);
  if (config.server_radius == "max") return *std::ranges::max_element(radii);
  if (config.server_radius == "median") return middle(radii);
  return config.server_radius == "constant" ? config.radius : std::numeric_limits<double>::infinity();
}

Batch union_of_all(const std::vector<WeightedSet>& sets) {
  std::vector<Batch> batches;
  for (const WeightedSet& each : sets) batches.push_back(each.set);
  return fedarena::union_of(batches);
}

}  // namespace

torch::Tensor tensor_norms(const Params& gradient) {
  torch::Tensor norms = torch::empty({static_cast<std::int64_t>(gradient.size())}, torch::kFloat64);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    norms[static_cast<std::int64_t>(i)] = gradient[i].to(torch::kFloat64).norm();
  }
  return norms;
}

void calibrate(Params& gradient, const torch::Tensor& norms) {
  const torch::Tensor own = tensor_norms(gradient);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const double length = own[index].item<double>();
    if (length > 0) gradient[i].mul_(norms[index].item<double>() / length);
  }
}

GlobalDescent::GlobalDescent(const Config& config, const Compute& compute, std::vector<WeightedSet> sets,
                             Stream shuffles)
    : compute_(compute), sets_(std::move(sets)) {
  if (config.server_descent != "union") return;
  on_union_.emplace(config.server_batch_size, compute, union_of_all(sets_), shuffles);
}

bool GlobalDescent::epoch(Params& params, const Params& start, double radius, double rate) {
  if (on_union_) return on_union_->next(params, start, radius, rate);
  if (norm(params - start) >= radius) return false;
  weighted_step(params, rate);
  return true;
}

void GlobalDescent::weighted_step(Params& params, double rate) const {
  Params step = zeros_like(params);
  for (const WeightedSet& each : sets_) {
    Params gradient = compute_.gradient(params, each.set);
    if (each.norms.defined()) calibrate(gradient, each.norms);
    step.add_scaled(each.weight, gradient);
  }
  params.add_scaled(-rate, step);
}

void optimise_globally(const Config& config, Server& server, const Uplink& uplink) {
  std::vector<WeightedSet> sets;
  std::vector<double> radii;
  double examples = 0;
  for (const Message& message : uplink.each()) {
    if (message[fedarena::kLabels].size(0) == 0) continue;  // a client that holds nothing
    sets.push_back(
        {decode_set(message, server.model.options()), static_cast<double>(message[fedarena::kExamples])});
    if (config.server_calibration) sets.back().norms = message[kNorms];
    examples += sets.back().weight;
    if (config.measures_regions()) radii.push_back(message[kRadius]);
  }
  if (examples == 0) return;
  for (WeightedSet& each : sets) each.weight /= examples;

  server.synthetic = union_of_all(sets);
  const Params start = server.params;
  const double radius = server_radius(config, radii);
  const double rate = config.rate_in(server.round, server.rounds);
  GlobalDescent descent(config, server.compute, std::move(sets), server.streams(Purpose::kSynthetic));
  for (std::int64_t epoch = 0; epoch < config.server_epochs; ++epoch) {
    if (!descent.epoch(server.params, start, radius, rate)) break;
  }
  if (std::isfinite(radius)) server.observed.add("radius", radius);
  server.observed.add("distance", norm(server.params - start));
}

}  // namespace fedlap
