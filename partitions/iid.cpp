#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

Partition deal_iid(const Settings& settings, const PartitionInput& input, std::uint64_t seed) {
  const std::int64_t clients = Dealing::schema().read(settings).clients;
  const std::vector<std::int64_t> order = partition_stream(seed, 0).permutation(input.examples);
  Partition partition;
  for (std::int64_t client = 0; client < clients; ++client) {
    const std::int64_t first = client * input.examples / clients;
    const std::int64_t last = (client + 1) * input.examples / clients;
    partition.emplace_back(order.begin() + first, order.begin() + last);
  }
  return partition;
}

}  // namespace

PartitionKind iid_kind() {
  return {"iid", "Shuffles all examples and cuts them into shares whose sizes differ by at most one.",
          Dealing::schema().fields(), deal_iid};
}

}  // namespace fedarena
