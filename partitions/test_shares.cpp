#include "partitions/test_shares.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

// Far above every stream that deals training examples, but for the shuffles of shared-classes: there a class
// with as many test as training examples is shuffled alike twice, which matters only to files that pair them.
constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 62;

// Each user's client; empty where two clients share a user, or nobody knows users.
std::map<std::int64_t, std::size_t> client_of_user(const Partition& shares, const PartitionInput& train) {
  std::map<std::int64_t, std::size_t> owners;
  if (train.users.empty()) return owners;
  for (std::size_t client = 0; client < shares.size(); ++client) {
    for (const std::int64_t index : shares[client]) {
      const auto [owner, is_new] = owners.try_emplace(train.users[static_cast<std::size_t>(index)], client);
      if (!is_new && owner->second != client) return {};
    }
  }
  return owners;
}

Partition deal_by_user(const std::map<std::int64_t, std::size_t>& owners, std::size_t clients,
                       const PartitionInput& test) {
  Partition dealt(clients);
  for (std::int64_t index = 0; index < test.examples; ++index) {
    const auto owner = owners.find(test.users[static_cast<std::size_t>(index)]);
    if (owner != owners.end()) dealt[owner->second].push_back(index);
  }
  return dealt;
}

// Regression data are of one class.
std::int64_t class_of(const PartitionInput& input, std::int64_t index) {
  return input.labels.empty() ? 0 : input.labels[static_cast<std::size_t>(index)];
}

Partition deal_by_class(const Partition& shares, const PartitionInput& train, const PartitionInput& test,
                        std::uint64_t seed) {
  const auto classes = static_cast<std::size_t>(std::max<std::int64_t>(train.classes, 1));
  std::vector<std::vector<std::int64_t>> held(classes, std::vector<std::int64_t>(shares.size()));
  for (std::size_t client = 0; client < shares.size(); ++client) {
    for (const std::int64_t index : shares[client]) {
      ++held[static_cast<std::size_t>(class_of(train, index))][client];
    }
  }
  std::vector<std::vector<std::int64_t>> members(classes);
  for (std::int64_t index = 0; index < test.examples; ++index) {
    members[static_cast<std::size_t>(class_of(test, index))].push_back(index);
  }
  Partition dealt(shares.size());
  for (std::size_t label = 0; label < classes; ++label) {
    const std::int64_t all = std::accumulate(held[label].begin(), held[label].end(), std::int64_t{0});
    if (all == 0) continue;  // nobody is asked about a class that nobody holds
    const std::vector<std::int64_t> whole =
        shuffled(members[label], partition_stream(seed, kFirstStream + label));
    const auto size = static_cast<double>(whole.size());
    std::int64_t before = 0;
    auto begin = whole.begin();
    for (std::size_t client = 0; client < shares.size(); ++client) {
      before += held[label][client];
      // Rounded to the nearest, so that the shares are as even as they can be; the last one ends at the size.
      const auto end =
          whole.begin() + std::llround(size * static_cast<double>(before) / static_cast<double>(all));
      dealt[client].insert(dealt[client].end(), begin, end);
      begin = end;
    }
  }
  for (std::vector<std::int64_t>& share : dealt) std::ranges::sort(share);
  return dealt;
}

bool goes_by_user(const std::map<std::int64_t, std::size_t>& owners, const PartitionInput& test) {
  return !owners.empty() && !test.users.empty();
}

}  // namespace

bool tests_are_of_clients(const Partition& shares, const PartitionInput& train, const PartitionInput& test) {
  const auto owners = client_of_user(shares, train);
  return std::ranges::any_of(test.users, [&](std::int64_t user) { return owners.contains(user); });
}

bool tests_tell_label_counts(const Partition& shares, const PartitionInput& train,
                             const PartitionInput& test) {
  return train.classes > 0 && !goes_by_user(client_of_user(shares, train), test);
}

Partition deal_test_examples(const Partition& shares, const PartitionInput& train, const PartitionInput& test,
                             std::uint64_t seed) {
  const auto owners = client_of_user(shares, train);
  if (goes_by_user(owners, test)) return deal_by_user(owners, shares.size(), test);
  return deal_by_class(shares, train, test, seed);
}

}  // namespace fedarena
