// Zhang et al., "PFLlib: A Beginner-Friendly and Comprehensive Personalized Federated Learning Library and
// Benchmark" (JMLR 2025), in the form of its code, partition "dir": as NIID-Bench (dirichlet.cpp),
// cap included, but for the least number of examples of a client. That is the smaller one of batch_size / (1
// - train_ratio), so that a client's test examples fill a batch, and half an equal share of all examples,
// rounded down; with its constants 10, 0.75 and alpha = 0.1, at most 40.
//
// Differs from PFLlib: it deals training and test examples together and splits each client's afterwards; this
// deals the training examples, all of which a client trains on. It draws without end; this gives up after
// 1000 draws. The least number is at least 1.

#include <algorithm>

#include "partitions/class_shares.hpp"

namespace fedarena {
namespace {

struct PfllibSettings : Dealing {
  double alpha = 0.1;
  std::int64_t batch_size = 10;
  double train_ratio = 0.75;

  static Schema<PfllibSettings> schema() {
    return Schema<PfllibSettings>{
        {"alpha", &PfllibSettings::alpha,
         "The concentration: small values give each class to few clients, large ones approach equal "
         "shares.",
         Constraint::positive()},
        {"batch_size", &PfllibSettings::batch_size,
         "A client has at least batch_size / (1 - train_ratio) examples, or half an equal share of all of "
         "them where that is less; proportions are drawn again until every client has them.",
         Constraint::between(1, 1e9)},
        {"train_ratio", &PfllibSettings::train_ratio,
         "Stands in the rule of batch_size alone; PFLlib splits test examples off by it.",
         Constraint::between(0, 0.999)}}
        .extends<Dealing>();
  }

  std::int64_t least_examples(std::int64_t examples) const {
    const double for_a_batch = static_cast<double>(batch_size) / (1 - train_ratio);
    const double half_a_share = static_cast<double>(examples) / static_cast<double>(clients) / 2;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(for_a_batch, half_a_share)));
  }
};

Partition deal_dirichlet_pfllib(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const PfllibSettings settings = PfllibSettings::schema().read(given);
  return split_classes({.clients = settings.clients,
                        .alpha = settings.alpha,
                        .min_examples = settings.least_examples(input.examples),
                        .cap = Cap::kBelowMean,
                        .least_from = "batch_size"},
                       indices_by_class("dirichlet-pfllib", input), seed);
}

}  // namespace

PartitionKind dirichlet_pfllib_kind() {
  return {"dirichlet-pfllib",
          "As PFLlib's \"dir\": NIID-Bench's way with a least number of examples that follows from a batch.",
          PfllibSettings::schema().fields(), deal_dirichlet_pfllib};
}

}  // namespace fedarena
