// Li, Diao, Chen, He, "Federated Learning on Non-IID Data Silos: An Experimental Study" (ICDE 2022), quantity
// skew, "q ~ Dir(alpha)", in the form of its code, NIID-Bench, partition "iid-diff-quantity": all examples
// are shuffled and cut at floor(cumulative p * examples), p ~ Dirichlet(alpha, ..., alpha) over clients, the
// last client taking what rounding leaves. p is drawn again until the least p * examples, before rounding,
// is 10.
//
// Differs from NIID-Bench: it draws without end, this gives up after 1000 draws.

#include <algorithm>

#include "partitions/class_shares.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kQuantityAttempts = 1000;

Schema<ConcentrationSettings> quantity_schema() {
  return ConcentrationSettings::schema(
      "The concentration: small values give most examples to few clients, large ones approach equal sizes.",
      "The least number of examples of a client; sizes are drawn again until every client has it.");
}

std::vector<double> draw_proportions(const ConcentrationSettings& settings, std::int64_t examples,
                                     std::uint64_t seed) {
  check_least_examples(settings.clients, settings.min_examples, examples);
  Draws draws(kQuantityAttempts);
  while (draws.go_on()) {
    // Stream 0 shuffles, so the order does not depend on alpha.
    std::vector<double> proportions =
        partition_stream(seed, draws.made() + 1)
            .dirichlet(settings.alpha, static_cast<std::size_t>(settings.clients));
    const std::int64_t short_clients = std::ranges::count_if(proportions, [&](double proportion) {
      return proportion * static_cast<double>(examples) < static_cast<double>(settings.min_examples);
    });
    if (short_clients == 0) return proportions;
    draws.fail(short_clients);
  }
  draws.refuse(settings.clients, settings.min_examples, settings.alpha, "min_examples");
}

Partition deal_quantity(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const ConcentrationSettings settings = quantity_schema().read(given);
  const std::vector<double> proportions = draw_proportions(settings, input.examples, seed);
  const std::vector<std::int64_t> order = partition_stream(seed, 0).permutation(input.examples);
  Partition partition;
  std::int64_t first = 0;
  for (const std::int64_t end : cut_by(proportions, input.examples)) {
    partition.emplace_back(order.begin() + first, order.begin() + end);
    first = end;
  }
  return partition;
}

}  // namespace

PartitionKind quantity_kind() {
  return {"quantity",
          "As NIID-Bench's quantity skew: shuffles all examples and cuts them into shares whose sizes are "
          "drawn from Dirichlet(alpha).",
          quantity_schema().fields(), deal_quantity};
}

}  // namespace fedarena
