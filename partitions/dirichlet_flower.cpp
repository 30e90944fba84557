// Flower Datasets, DirichletPartitioner (Beutel et al. 2020 is Flower's paper; the class cites Yurochkin et
// al. 2019): classes in the order of their first example; of each class, proportions p ~ Dirichlet(alpha,
// ..., alpha) over clients; shares are cut at floor(cumulative p * size) from the class in the order of the
// data set, which is not shuffled, the last client taking what rounding leaves. With self_balancing (off by
// default, as in today's releases; it was on in the first ones), a client that holds more than examples /
// clients so far has p = 0, and the rest is scaled to sum to 1. All is drawn again, ten times at most after
// the first, until every client has min_examples (min_partition_size, by default 10).
//
// Differs from Flower: one alpha for all clients, no list of them; a least number of 0 is refused, since no
// client may be empty.

#include <algorithm>

#include "partitions/class_shares.hpp"

namespace fedarena {
namespace {

// The first draw and ten more.
constexpr std::uint64_t kDirichletFlowerAttempts = 11;

struct FlowerSettings : ConcentrationSettings {
  bool self_balancing = false;

  static Schema<FlowerSettings> schema() {
    return Schema<FlowerSettings>{
        {"self_balancing", &FlowerSettings::self_balancing,
         "Whether clients that hold more than an equal share of all examples get none of "
         "the next classes."}}
        .extends<ConcentrationSettings>();
  }
};

// Classes that have examples, by their first ones.
std::vector<std::int64_t> order_of_appearance(const std::vector<std::vector<std::int64_t>>& members) {
  std::vector<std::int64_t> order;
  for (std::size_t label = 0; label < members.size(); ++label) {
    if (!members[label].empty()) order.push_back(static_cast<std::int64_t>(label));
  }
  std::sort(order.begin(), order.end(), [&](std::int64_t left, std::int64_t right) {
    return members[static_cast<std::size_t>(left)].front() < members[static_cast<std::size_t>(right)].front();
  });
  return order;
}

Partition deal_dirichlet_flower(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const FlowerSettings settings = FlowerSettings::schema().read(given);
  const auto members = indices_by_class("dirichlet-flower", input);
  return split_classes({.clients = settings.clients,
                        .alpha = settings.alpha,
                        .min_examples = settings.min_examples,
                        .attempts = kDirichletFlowerAttempts,
                        .cap = settings.self_balancing ? Cap::kUpToMean : Cap::kNone,
                        .shuffled = false,
                        .order = order_of_appearance(members)},
                       members, seed);
}

}  // namespace

PartitionKind dirichlet_flower_kind() {
  return {
      "dirichlet-flower",
      "As Flower's DirichletPartitioner: splits each class, in the order of the data set, over the clients "
      "by proportions from Dirichlet(alpha), in eleven draws at most.",
      FlowerSettings::schema().fields(), deal_dirichlet_flower};
}

}  // namespace fedarena
