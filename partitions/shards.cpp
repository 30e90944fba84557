// McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data" (AISTATS 2017),
// section 3, "pathological non-IID": examples are sorted by label and cut into shards, and every client gets
// some of them at random; there 200 shards of 300 and two a client, so that most clients hold two digits.
//
// Differs from the paper: where the shards do not divide the examples, their sizes differ by one. Within a
// label the order is that of the data set; the paper says nothing of it.

#include "fedarena/base/error.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

struct ShardSettings : Dealing {
  std::int64_t shards_per_client = 2;

  static Schema<ShardSettings> schema() {
    return Schema<ShardSettings>{{"shards_per_client", &ShardSettings::shards_per_client,
                                  "How many shards of the examples sorted by label each client gets.",
                                  Constraint::between(1, 1'000'000)}}
        .extends<Dealing>();
  }
};

std::vector<std::int64_t> sorted_by_label(const PartitionInput& input) {
  std::vector<std::int64_t> sorted;
  for (const std::vector<std::int64_t>& members : indices_by_class("shards", input)) {
    sorted.insert(sorted.end(), members.begin(), members.end());
  }
  return sorted;
}

Partition deal_shards(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const ShardSettings settings = ShardSettings::schema().read(given);
  const std::vector<std::int64_t> sorted = sorted_by_label(input);
  const std::int64_t shards = settings.clients * settings.shards_per_client;
  if (shards > input.examples) {
    reject_request(fmt::format("{} clients with shards_per_client = {} need {} shards and the "
                               "data has {} examples",
                               settings.clients, settings.shards_per_client, shards, input.examples),
                   "lower clients or shards_per_client");
  }
  const std::vector<std::int64_t> order = partition_stream(seed, 0).permutation(shards);
  Partition partition(static_cast<std::size_t>(settings.clients));
  for (std::size_t position = 0; position < order.size(); ++position) {
    const std::int64_t shard = order[position];
    const std::int64_t first = shard * input.examples / shards;
    const std::int64_t last = (shard + 1) * input.examples / shards;
    std::vector<std::int64_t>& share =
        partition[position / static_cast<std::size_t>(settings.shards_per_client)];
    share.insert(share.end(), sorted.begin() + first, sorted.begin() + last);
  }
  return partition;
}

}  // namespace

PartitionKind shards_kind() {
  return {
      "shards",
      "Sorts examples by label, cuts them into shards of one size and deals these at random, some for every "
      "client.",
      ShardSettings::schema().fields(), deal_shards};
}

}  // namespace fedarena
