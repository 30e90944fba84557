#pragma once

#include <cstdint>

#include "partitions/partition.hpp"

namespace fedarena {

/// Deals test examples to clients as `shares` deals the training examples: where no two clients share a user
/// and the test examples name theirs, each client gets those of its users; else the test examples of a class
/// (or all of them, without classes), in random order, are cut in proportion to the clients' training
/// examples of it, so that a client is tested on the mixture of classes that it holds. Disjoint and
/// ascending; a client may get none. A pure function of its arguments.
Partition deal_test_examples(const Partition& shares, const PartitionInput& train, const PartitionInput& test,
                             std::uint64_t seed);

/// Whether no two clients share a user, and some test example is of one of theirs.
bool tests_are_of_clients(const Partition& shares, const PartitionInput& train, const PartitionInput& test);

/// Whether whoever sees that deal learns how many examples of each class each client holds.
bool tests_tell_label_counts(const Partition& shares, const PartitionInput& train,
                             const PartitionInput& test);

}  // namespace fedarena
