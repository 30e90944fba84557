#include <algorithm>

#include <fedarena/adam.hpp>

#include "pppfl.hpp"

namespace pppfl {

using namespace fedarena;

namespace {

struct SetKeys {
  Key<torch::Tensor> images, labels;
};
constexpr SetKeys kSupport{{"support_images"}, {"support_labels"}};  // D*tr
constexpr SetKeys kQuery{{"query_images"}, {"query_labels"}};        // D*val

constexpr std::uint64_t kSplit = 0, kShuffles = 1;

bool has(const Client& client, const SetKeys& keys) { return client.state.contains(keys.images.name); }

bool has_or_needs_none(const Client& client) { return client.oracle.size() == 0 || has(client, kSupport); }

Batch set_of(const Client& client, const SetKeys& keys) {
  return Batch{client.state[keys.images], client.state[keys.labels]}.to(client.model.options());
}

}  // namespace

void make_sets(const Config& config, Client& client) {
  if (has_or_needs_none(client)) return;
  const std::int64_t count = std::min(client.oracle.size(), config.most_examples);
  const std::int64_t held_back = std::max<std::int64_t>(1, count / 5), all = count + held_back;
  const Batch drawn = generate(config, client, all);
  // Shuffled, since examples that the generator "real" draws a second time come last.
  Stream stream = client.streams(Purpose::kAlgorithm, kSplit);
  const torch::Tensor order = torch::tensor(stream.permutation(all), torch::kInt64);
  const auto keep = [&](const SetKeys& keys, const Batch& set) {
    client.state.put(keys.images, set.inputs);
    client.state.put(keys.labels, set.targets);
  };
  // "real" has none of a client all of whose examples an audit leaves out.
  const auto part = [&](std::int64_t first, std::int64_t size) {
    return drawn.size() == 0 ? drawn : drawn.select(order.narrow(0, first, size));
  };
  keep(kSupport, part(0, count));
  keep(kQuery, part(count, held_back));
}

void require_set(const Client& client) {
  if (has_or_needs_none(client)) return;
  throw Error(Complaint{.found = "adapt_on = \"synthetic\", and client " + std::to_string(client.id) +
                                 " has no synthetic images, because it did not train",
                        .allowed = "clients that all take part in round 1",
                        .remedy = "Set adapt_on = \"real\", or leave out [cohort] and held_out_clients"});
}

AccessPlan sets_plan(const Config& config, const Client& client) {
  return client.oracle.size() == 0 || client.participations > 0 ? AccessPlan()
                                                                : generation_plan(config, client);
}

Params descend(const Config& config, const Client& client, Params start, std::int64_t epochs, double rate) {
  if (!has(client, kSupport)) return start;
  const Batch support = set_of(client, kSupport);
  const std::int64_t count = support.size(), batch = config.batch_size > 0 ? config.batch_size : count;
  Stream shuffles = client.streams(Purpose::kAlgorithm, kShuffles);
  Adam adam;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const torch::Tensor order = torch::tensor(shuffles.permutation(count), torch::kInt64);
    for (std::int64_t first = 0; first < count; first += batch) {
      const Batch part = support.select(order.narrow(0, first, std::min(batch, count - first)));
      adam.step(start, client.compute.gradient(start, part), rate);
    }
  }
  return start;
}

Params query_gradient(const Client& client, const Params& at) {
  const bool any = has(client, kQuery) && client.state[kQuery.images].size(0) > 0;
  return any ? client.compute.gradient(at, set_of(client, kQuery)) : zeros_like(at);
}

}  // namespace pppfl
