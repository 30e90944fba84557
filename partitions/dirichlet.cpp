// Yurochkin et al. 2019 and Hsu, Qi, Brown 2019 made "Dirichlet(alpha)" partitions common, and code bases
// disagree on what it means. This is one variant of several, "uncapped, per class over clients": each class
// draws its own proportions p ~ Dirichlet(alpha, ..., alpha) over clients, and client k gets the share p_k of
// that class.
//
// Differs from the capped variant (dirichlet_niid_bench.cpp): a client that is already full is not set to
// zero. Differs from Hsu, Qi, Brown: they draw a mixture of classes for each client, all clients being of one
// size (dirichlet_pfl.cpp comes near). Differs from Flower (dirichlet_flower.cpp): classes are shuffled, and
// 1000 draws are made before it is given up.

#include "partitions/class_shares.hpp"

namespace fedarena {
namespace {

Partition deal_dirichlet(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const ConcentrationSettings settings = ConcentrationSettings::schema().read(given);
  return split_classes(
      {.clients = settings.clients, .alpha = settings.alpha, .min_examples = settings.min_examples},
      indices_by_class("dirichlet", input), seed);
}

}  // namespace

PartitionKind dirichlet_kind() {
  return {"dirichlet",
          "Splits each class over the clients by proportions of its own, drawn from Dirichlet(alpha), "
          "without a cap on "
          "a client's size.",
          ConcentrationSettings::schema().fields(), deal_dirichlet};
}

}  // namespace fedarena
