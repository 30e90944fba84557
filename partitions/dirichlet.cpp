// Yurochkin et al. 2019 and Hsu, Qi, Brown 2019 made "Dirichlet(alpha)" partitions common, and code bases
// disagree on what it means. This is one variant of several, "uncapped, per class over clients": each class
// draws its own proportions p ~ Dirichlet(alpha, ..., alpha) over clients, and client k gets the share p_k of
// that class.
//
// Differs from the capped variant (below): a client that is already full is not set to
// zero. Differs from Hsu, Qi, Brown: they draw a mixture of classes for each client, all clients being of one
// size (dirichlet_pfl.cpp comes near). Differs from Flower (dirichlet_flower.cpp): classes are shuffled, and
// 1000 draws are made before it is given up.

#include "partitions/class_shares.hpp"

namespace fedarena {
namespace {

template <Cap cap>
Partition deal_with_cap(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const ConcentrationSettings settings = ConcentrationSettings::schema().read(given);
  return split_classes({.clients = settings.clients,
                        .alpha = settings.alpha,
                        .min_examples = settings.min_examples,
                        .cap = cap},
                       indices_by_class(cap == Cap::kNone ? "dirichlet" : "dirichlet-niid-bench", input),
                       seed);
}

}  // namespace

PartitionKind dirichlet_kind() {
  return {"dirichlet",
          "Splits each class over the clients by proportions of its own, drawn from Dirichlet(alpha), "
          "without a cap on a client's size.",
          ConcentrationSettings::schema().fields(), deal_with_cap<Cap::kNone>};
}

// Li, Diao, Chen, He, "Federated Learning on Non-IID Data Silos: An Experimental Study" (ICDE 2022), in the
// form of its code, NIID-Bench, partition "noniid-labeldir": classes in ascending order, each shuffled; of
// each class, proportions p ~ Dirichlet(alpha, ..., alpha) over clients; a client that holds examples /
// clients or more so far has p = 0, and the rest is scaled to sum to 1; shares are cut at floor(cumulative p
// * size), the last client taking what rounding leaves. All is drawn again until every client has 10
// examples. Bayesian nonparametric federated learning (Yurochkin et al. 2019) had the cap first, in code;
// neither paper mentions it. It makes later classes go to fewer clients than alpha says.
//
// Differs from NIID-Bench: it draws without end, this gives up after 1000 draws. A draw in which a class is
// left with full clients alone counts as failed; NIID-Bench divides by zero there.
PartitionKind dirichlet_niid_bench_kind() {
  return {
      "dirichlet-niid-bench",
      "As NIID-Bench: splits each class over the clients by proportions from Dirichlet(alpha), leaving out "
      "clients that hold an equal share of all examples already.",
      ConcentrationSettings::schema().fields(), deal_with_cap<Cap::kBelowMean>};
}

}  // namespace fedarena
