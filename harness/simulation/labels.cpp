// The policy "label": what a run sees of its examples' labels, drawn once by randomised response. Everything
// that trains sees only these, so that all later accesses are post-processing.
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "harness/simulation/simulation.hpp"

namespace fedarena {
namespace {

// In the place of a label that nobody has randomised yet, or never will; no loss takes it for a class.
constexpr std::int64_t kNotReleased = -1;
// Streams are those of a client's round 0, in which nobody trains.
constexpr std::int64_t kBeforeTraining = 0;

enum Stage : std::uint64_t { kFirst, kSecond };

}  // namespace

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> label_halves(
    std::uint64_t seed, std::int64_t client, const std::vector<std::int64_t>& shard) {
  Stream draws({.seed = seed, .round = kBeforeTraining, .client = client, .purpose = Purpose::kBatches});
  std::vector<std::int64_t> order = draws.permutation(std::ssize(shard));
  const auto middle = order.begin() + (std::ssize(shard) + 1) / 2;
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  for (std::int64_t& position : order) position = shard[static_cast<std::size_t>(position)];
  return {{order.begin(), middle}, {middle, order.end()}};
}

std::pair<torch::Tensor, torch::Tensor> Simulation::halves_of(std::int64_t client) const {
  const auto halves = label_halves(setup_.seed, client, setup_.partition[static_cast<std::size_t>(client)]);
  return {tensor_of(halves.first), tensor_of(halves.second)};
}

void Simulation::release_labels(std::int64_t client, const torch::Tensor& positions,
                                const torch::Tensor& prior, std::uint64_t stage,
                                torch::Tensor& labels) const {
  const auto& policy = std::get<LabelPolicy>(setup_.policy);
  const auto source = make_noise_source(policy.noise_source, streams_of(kBeforeTraining, client), stage);
  const torch::Tensor own = setup_.dataset.train.targets.index_select(0, positions);
  labels.index_copy_(0, positions, responses_->answers(own, prior, *source));
}

void Simulation::randomise_labels() {
  const auto* policy = std::get_if<LabelPolicy>(&setup_.policy);
  if (policy == nullptr) return;
  policy->check(setup_.dataset.classes, setup_.rounds, setup_.partition, setup_.held_out);
  const bool halved = policy->stages == 2;
  responses_ =
      ResponseRelease::of_examples(setup_.dataset.classes, halved, policy->epsilon, response_accesses_);
  torch::Tensor labels = torch::full_like(setup_.dataset.train.targets, kNotReleased);
  for (const std::int64_t client : training_)
    release_labels(client, halved ? halves_of(client).first : shard_of(client), {}, kFirst, labels);
  train_.targets = std::move(labels);
}

torch::Tensor Simulation::label_priors(
    const std::vector<std::pair<std::int64_t, torch::Tensor>>& shards) const {
  struct Piece {
    std::int64_t client;
    torch::Tensor positions, priors;
  };
  std::int64_t all = 0, begin = 0;
  for (const auto& [client, positions] : shards) all += positions.size(0);
  torch::Tensor priors = torch::empty({all, setup_.dataset.classes}, torch::kFloat64);
  std::vector<Piece> pieces;
  for (const auto& [client, positions] : shards) {
    for (const torch::Tensor& part : positions.split(engine_.micro_batch())) {
      pieces.push_back({client, part, priors.narrow(0, begin, part.size(0))});
      begin += part.size(0);
    }
  }
  engine_.credit({.evaluations = all});
  setup_.pool.for_each(pieces.size(), [&](std::size_t index) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    const torch::NoGradGuard no_graph;
    const auto& [client, positions, rows] = pieces[index];
    const Batch batch = reader_.read(setup_.dataset.train, positions, skew_of(client, 0));
    rows.copy_(setup_.model.forward(params_, batch.inputs).to(torch::kCPU, torch::kFloat64).softmax(1));
  });
  return priors;
}

torch::Tensor Simulation::labels_after(std::int64_t round) const {
  const auto* policy = std::get_if<LabelPolicy>(&setup_.policy);
  if (policy == nullptr || round != policy->first_rounds) return {};
  std::vector<std::pair<std::int64_t, torch::Tensor>> shards;
  for (const std::int64_t client : training_) shards.emplace_back(client, halves_of(client).second);
  const torch::Tensor priors = label_priors(shards);
  torch::Tensor labels = train_.targets.clone();
  std::int64_t begin = 0;
  for (const auto& [client, positions] : shards) {
    release_labels(client, positions, priors.narrow(0, begin, positions.size(0)), kSecond, labels);
    begin += positions.size(0);
  }
  return labels;
}

}  // namespace fedarena
