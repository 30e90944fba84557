// Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023 (arXiv:2305.08846),
// Algorithm 1 and Section 6; canaries with a gradient of their own: Nasr et al., USENIX Security 2023.
//
// Differs from the paper: canaries are dealt to clients. The auditor of gradients also knows all other
// examples and which of them each sample held, against which the ledger's epsilon has to stand as well. A
// canary that is out keeps its place in the samples and contributes nothing there, which is the adjacency
// "zero-out" that ledgers of Poisson samples state, so that sizes, rates and noise do not depend on who is
// in.
#include "harness/oracle/canaries.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// What the streams of the server in round 0 are for; directions have one each.
constexpr std::uint64_t kMembership = 0, kDealing = 1, kPlaces = 2, kLabels = 3, kDirections = 4;

// Rounding must not make a direction longer than 1.
constexpr double kDirectionLength = 1 - 0x1p-19;

[[noreturn]] void complain_no_room(std::int64_t canaries, std::int64_t room, const char* what) {
  throw Error(Complaint{.found = fmt::format("{} canaries, and {} {}", canaries, room, what),
                        .allowed = fmt::format("at most {} canaries of this kind", room),
                        .remedy = "Set canaries in [audit], or choose another kind"});
}

}  // namespace

Canaries::Canaries(CanaryPlan plan, std::uint64_t seed, std::span<const std::vector<std::int64_t>> shards,
                   const Examples& train, std::int64_t classes, std::int64_t parameters)
    : plan_(std::move(plan)), seed_(seed) {
  if (plan_.kind.empty()) return;
  const Streams streams(seed_, 0, kServer);
  Stream membership = streams(Purpose::kAudit, kMembership);
  for (std::int64_t i = 0; i < plan_.count; ++i) in_.push_back(membership.uniform() < 0.5);
  Stream places = streams(Purpose::kAudit, kPlaces);
  if (plan_.kind == kGradientCanaries) {
    if (plan_.count > parameters) complain_no_room(plan_.count, parameters, "coordinates of the model");
    places_ = places.sample_without_replacement(parameters, plan_.count);
    Stream dealing = streams(Purpose::kAudit, kDealing);
    for (std::int64_t i = 0; i < plan_.count; ++i) {
      clients_.push_back(static_cast<std::int64_t>(dealing.below(shards.size())));
    }
  } else if (plan_.kind == kMislabelledCanaries) {
    if (classes < 2) {
      throw Error(Complaint{.found = "canaries with wrong labels on data without classes",
                            .allowed = R"(the kind "gradient", or a classification)"});
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> held;  // position, client
    for (std::size_t client = 0; client < shards.size(); ++client) {
      for (const std::int64_t position : shards[client])
        held.emplace_back(position, static_cast<std::int64_t>(client));
    }
    std::ranges::sort(held);
    const auto room = static_cast<std::int64_t>(held.size());
    if (plan_.count > room) complain_no_room(plan_.count, room, "examples of clients");
    Stream labels = streams(Purpose::kAudit, kLabels);
    for (const std::int64_t chosen : places.sample_without_replacement(room, plan_.count)) {
      const auto& [position, client] = held[static_cast<std::size_t>(chosen)];
      const auto label = train.targets[position].item<std::int64_t>();
      const auto step = 1 + static_cast<std::int64_t>(labels.below(static_cast<std::uint64_t>(classes - 1)));
      places_.push_back(position);
      clients_.push_back(client);
      labels_.push_back((label + step) % classes);
    }
  } else {
    FEDARENA_CHECK(plan_.kind, ==, kClientCanaries);
  }
  for (std::size_t i = 0; i < clients_.size(); ++i)
    by_client_[clients_[i]].push_back(static_cast<std::int64_t>(i));
}

Examples Canaries::apply(const Examples& train) const {
  Examples changed = train;
  if (labels_.empty()) return changed;
  changed.targets = train.targets.index_put({torch::tensor(places_, torch::kInt64)},
                                            torch::tensor(labels_, train.targets.options()));
  return changed;
}

ClientCanaries Canaries::of_client(std::int64_t client, const Streams& streams) const {
  if (plan_.kind.empty()) return {};
  return {*this, of(client), streams(Purpose::kAudit)};
}

std::vector<std::int64_t> Canaries::of(std::int64_t client) const {
  const auto own = by_client_.find(client);
  return own == by_client_.end() ? std::vector<std::int64_t>() : own->second;
}

std::vector<std::int64_t> Canaries::sampled(double rate, const Streams& streams) const {
  std::vector<std::int64_t> sample;
  if (plan_.kind != kClientCanaries) return sample;
  Stream draws = streams(Purpose::kAudit);
  for (std::int64_t i = 0; i < plan_.count; ++i) {
    const bool drawn = draws.uniform() < rate;  // also of those that are out, so that the others do not move
    if (drawn && in_[static_cast<std::size_t>(i)]) sample.push_back(i);
  }
  return sample;
}

Params Canaries::direction(std::int64_t canary, const Params& like) const {
  Stream draws =
      Streams(seed_, 0, kServer)(Purpose::kAudit, kDirections + static_cast<std::uint64_t>(canary));
  torch::Tensor values = normal(draws, {like.flat().numel()});
  values *= kDirectionLength / values.norm();
  return {like.layout(), values.to(like.flat().options())};
}

ClientCanaries::ClientCanaries(const Canaries& all, const std::vector<std::int64_t>& own, Stream draws)
    : control_(all.plan().control), draws_(std::move(draws)) {
  std::vector<std::int64_t> coordinates;
  for (const std::int64_t canary : own) {
    const auto i = static_cast<std::size_t>(canary);
    if (all.plan().kind == kGradientCanaries) {
      coordinates.push_back(all.places()[i]);
      in_.push_back(all.in()[i]);
    } else if (!all.in()[i]) {
      left_out_.push_back(all.places()[i]);
    }
  }
  std::ranges::sort(left_out_);
  scores_.assign(coordinates.size(), 0);
  if (!coordinates.empty()) coordinates_ = torch::tensor(coordinates, torch::kInt64);
}

bool ClientCanaries::leaves_out(std::int64_t position) const {
  return std::ranges::binary_search(left_out_, position);
}

torch::Tensor ClientCanaries::at_coordinates(const Params& sum) const {
  return sum.flat().index_select(0, coordinates_.to(sum.flat().device())).to(torch::kCPU, torch::kFloat64);
}

void ClientCanaries::enter(Params& sum, double rate, double clip_norm) {
  if (!coordinates_.defined()) return;
  background_ = at_coordinates(sum);
  torch::Tensor entries = torch::zeros({coordinates_.numel()}, torch::kFloat64);
  auto* entry = entries.data_ptr<double>();
  for (std::size_t i = 0; i < in_.size(); ++i) {
    const bool drawn = rate >= 1 || draws_.uniform() < rate;
    if (drawn && in_[i]) entry[i] = clip_norm;
  }
  sum.flat().index_add_(0, coordinates_.to(sum.flat().device()), entries.to(sum.flat().options()));
}

void ClientCanaries::score(const Params& sum, double clip_norm) {
  if (!coordinates_.defined()) return;
  const torch::Tensor values = at_coordinates(sum) - background_;
  const auto* value = values.data_ptr<double>();
  for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] += value[i] / clip_norm;
}

}  // namespace fedarena
