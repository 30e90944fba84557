#include "global_optimisation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "synthetic_set.hpp"

namespace fedlap {

using fedarena::Batch;
using fedarena::Compute;
using fedarena::Message;
using fedarena::Params;
using fedarena::Purpose;
using fedarena::Server;
using fedarena::Stream;
using fedarena::Uplink;

namespace {

double middle(std::vector<double> radii) {
  std::sort(radii.begin(), radii.end());
  const std::size_t half = radii.size() / 2;
  return radii.size() % 2 == 1 ? radii[half] : (radii[half - 1] + radii[half]) / 2;
}

double server_radius(const Config& config, const std::vector<double>& radii) {
  if (config.server_radius == "min") return *std::min_element(radii.begin(), radii.end());
  if (config.server_radius == "max") return *std::max_element(radii.begin(), radii.end());
  if (config.server_radius == "median") return middle(radii);
  return config.server_radius == "constant" ? config.radius : std::numeric_limits<double>::infinity();
}

}  // namespace

GlobalDescent::GlobalDescent(const Config& config, const Compute& compute, std::vector<WeightedSet> sets,
                             Stream shuffles)
    : config_(config), compute_(compute), sets_(std::move(sets)), shuffles_(shuffles) {
  std::vector<torch::Tensor> images, labels;
  for (const WeightedSet& each : sets_) {
    images.push_back(each.set.inputs);
    labels.push_back(each.set.targets);
  }
  union_ = {torch::cat(images), torch::cat(labels)};
}

bool GlobalDescent::epoch(Params& params, const Params& start, double radius, double rate) {
  if (config_.server_descent == "union") return union_epoch(params, start, radius, rate);
  if (norm(params - start) >= radius) return false;
  Params step = zeros_like(params);
  for (const WeightedSet& each : sets_) step.add_scaled(each.weight, compute_.gradient(params, each.set));
  params.add_scaled(-rate, step);
  return true;
}

bool GlobalDescent::union_epoch(Params& params, const Params& start, double radius, double rate) {
  const torch::Tensor order = torch::tensor(shuffles_.permutation(union_.size()), torch::kInt64);
  for (std::int64_t first = 0; first < union_.size(); first += config_.server_batch_size) {
    if (norm(params - start) >= radius) return false;
    const std::int64_t count = std::min(config_.server_batch_size, union_.size() - first);
    params.add_scaled(-rate, compute_.gradient(params, union_.select(order.narrow(0, first, count))));
  }
  return true;
}

void optimise_globally(const Config& config, Server& server, const Uplink& uplink) {
  std::vector<WeightedSet> sets;
  std::vector<double> radii;
  double examples = 0;
  for (const Message& message : uplink.each()) {
    if (message[kLabels].size(0) == 0) continue;  // a client that holds nothing
    sets.push_back({decode_set(message, server.model.options()), static_cast<double>(message[kExamples])});
    examples += sets.back().weight;
    if (config.measures_regions()) radii.push_back(message[kRadius]);
  }
  if (examples == 0) return;
  for (WeightedSet& each : sets) each.weight /= examples;

  const Params start = server.params;
  const double radius = server_radius(config, radii);
  const double rate = config.rate_in(server.round, server.rounds);
  GlobalDescent descent(config, server.compute, std::move(sets), server.streams(Purpose::kSynthetic));
  for (std::int64_t epoch = 0; epoch < config.server_epochs; ++epoch) {
    if (!descent.epoch(server.params, start, radius, rate)) break;
  }
}

}  // namespace fedlap
