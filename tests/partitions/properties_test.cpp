// What every partition promises, over random inputs.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

constexpr int kInputs = 200;

struct PropertiesRequest {
  std::string kind;
  Settings settings;
  std::int64_t clients;
  bool complete;  // whether every example is dealt
};

std::int64_t draw_between(Stream& stream, std::int64_t lowest, std::int64_t highest) {
  return lowest + static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(highest - lowest + 1)));
}

// A request of each kind that suits any labels with at least 20 examples a class.
std::vector<PropertiesRequest> random_requests(std::int64_t classes, Stream& stream) {
  const std::int64_t clients = draw_between(stream, 1, 12);
  const std::int64_t owners = draw_between(stream, 1, classes);
  const std::int64_t each = classes / owners;
  std::vector<std::int64_t> order = stream.permutation(classes);
  order.resize(static_cast<std::size_t>(owners * each));
  const Settings by_class = {
      setting("clients", owners), setting("classes_per_client", each), {"class_order", Value(order)}};
  const double alpha = std::pow(10, 3 * stream.uniform());
  // Enough holders for every class, and never more than it has examples.
  const std::int64_t sharers = draw_between(stream, classes, 20);
  const Settings from_alpha = {setting("clients", clients), setting("min_examples", 1), {"alpha", alpha}};
  Settings equal = by_class;
  equal.emplace_back("equal_sizes", true);
  return {{"iid", {setting("clients", clients)}, clients, true},
          {"classes", by_class, owners, owners * each == classes},
          {"classes", equal, owners, false},
          {"dirichlet", from_alpha, clients, true},
          {"dirichlet-niid-bench", from_alpha, clients, true},
          {"quantity", from_alpha, clients, true},
          // Eleven draws are soon used up.
          {"dirichlet-flower",
           {setting("clients", clients),
            setting("min_examples", 1),
            {"alpha", 30 + alpha},
            {"self_balancing", stream.below(2) == 1}},
           clients,
           true},
          {"dirichlet-pfllib",
           {setting("clients", clients), setting("batch_size", 1), {"alpha", alpha}},
           clients,
           true},
          {"dirichlet-pfl", {setting("clients", clients), {"alpha", alpha / 100}}, clients, false},
          {"shards",
           {setting("clients", clients), setting("shards_per_client", draw_between(stream, 1, 4))},
           clients,
           true},
          {"shared-classes",
           {setting("clients", sharers), setting("classes_per_client", draw_between(stream, 1, classes))},
           sharers,
           true}};
}

void check_promises(const Partition& partition, const PropertiesRequest& request, const PartitionInput& input) {
  ASSERT_EQ(std::ssize(partition), request.clients);
  std::vector<bool> dealt(static_cast<std::size_t>(input.examples));
  std::int64_t total = 0;
  for (const std::vector<std::int64_t>& share : partition) {
    ASSERT_FALSE(share.empty());
    for (std::size_t i = 0; i < share.size(); ++i) {
      ASSERT_GE(share[i], 0);
      ASSERT_LT(share[i], input.examples);
      if (i > 0) {
        ASSERT_LT(share[i - 1], share[i]);
      }
      ASSERT_FALSE(dealt[static_cast<std::size_t>(share[i])]) << share[i] << " was dealt twice";
      dealt[static_cast<std::size_t>(share[i])] = true;
    }
    total += std::ssize(share);
  }
  if (request.complete) {
    ASSERT_EQ(total, input.examples);
  }
}

TEST(Partition, KeepsItsPromisesOnRandomInputs) {
  Stream stream({.seed = 1});
  for (int i = 0; i < kInputs; ++i) {
    const std::int64_t classes = draw_between(stream, 1, 12);
    const Labelled data = Labelled::random(classes, 60 * classes + draw_between(stream, 0, 200), stream);
    for (const PropertiesRequest& request : random_requests(classes, stream)) {
      SCOPED_TRACE(request.kind + ", input " + std::to_string(i));
      const std::uint64_t seed = stream();
      const Partition partition = make_partition(request.kind, request.settings, data.input(), seed);
      check_promises(partition, request, data.input());
      EXPECT_EQ(partition, make_partition(request.kind, request.settings, data.input(), seed));
    }
  }
}

TEST(Iid, HasEqualSizesUpToOne) {
  Stream stream({.seed = 2});
  for (int i = 0; i < kInputs; ++i) {
    const std::int64_t clients = draw_between(stream, 1, 50);
    const std::int64_t examples = clients + draw_between(stream, 0, 1000);
    const Partition partition = make_partition("iid", {setting("clients", clients)},
                                               {.labels = {}, .examples = examples, .classes = 0}, stream());
    for (const auto& share : partition) {
      EXPECT_GE(std::ssize(share), examples / clients);
      EXPECT_LE(std::ssize(share), (examples + clients - 1) / clients);
    }
  }
}

// Client 0 holds example i with probability 1/4: over 40,000 seeds the 8 counts have 7 degrees of freedom.
// The counts of draws without replacement vary by 6/7 of what independent ones do, so the bound is on the
// safe side.
TEST(Iid, GivesEveryExampleToAClientEquallyOften) {
  std::vector<std::int64_t> held(8);
  for (std::uint64_t seed = 0; seed < 40'000; ++seed) {
    const Partition partition =
        make_partition("iid", {setting("clients", 4)}, {.labels = {}, .examples = 8, .classes = 0}, seed);
    for (const std::int64_t index : partition[0]) ++held[static_cast<std::size_t>(index)];
  }
  EXPECT_TRUE(equally_likely(held));
}

TEST(Classes, SharesNoClass) {
  const Labelled data = Labelled::balanced(12, 30);
  const Partition partition =
      make_partition("classes", {setting("clients", 4), setting("classes_per_client", 3)}, data.input(), 1);
  for (const auto& counts : partition_statistics(partition, data.input()).class_counts) {
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 30), 3);
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 9);
  }
}

TEST(Classes, HasEqualSizesWhenAsked) {
  Stream stream({.seed = 3});
  const Labelled data = Labelled::random(10, 1000, stream);
  const PartitionStatistics before =
      partition_statistics(make_partition("classes", {}, data.input(), 1), data.input());
  const std::int64_t smallest = *std::min_element(before.sizes.begin(), before.sizes.end());
  for (const auto& share : make_partition("classes", {{"equal_sizes", true}}, data.input(), 1)) {
    EXPECT_EQ(std::ssize(share), smallest);
  }
}

TEST(Partition, OfAnotherSeedIsAnother) {
  const Labelled data = Labelled::balanced(10, 50);
  for (const std::string& kind : partition_names()) {
    if (kind == "classes" || kind == "by-user") continue;  // these draw only what they drop or choose
    const Settings settings = kind == "shared-classes" ? Settings{setting("clients", 10)} : Settings{};
    std::set<std::string> hashes;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      hashes.insert(index_hash(make_partition(kind, settings, data.input(), seed)));
    }
    EXPECT_EQ(hashes.size(), 200U) << kind;
  }
}

// The overlap of client 0's 250 of 1000 examples under two seeds is hypergeometric: mean 62.5, variance
// 250 * 1/4 * 3/4 * 750/999. Over 2,000 pairs of neighbouring seeds the mean is normal: 10^-6 for each kind.
TEST(Iid, OfNeighbouringSeedsIsIndependent) {
  std::vector<double> overlaps;
  std::vector<std::int64_t> previous;
  for (std::uint64_t seed = 0; seed <= 2'000; ++seed) {
    const std::vector<std::int64_t> share = make_partition(
        "iid", {setting("clients", 4)}, {.labels = {}, .examples = 1000, .classes = 0}, seed)[0];
    std::vector<std::int64_t> common;
    std::set_intersection(share.begin(), share.end(), previous.begin(), previous.end(),
                          std::back_inserter(common));
    if (seed > 0) overlaps.push_back(static_cast<double>(common.size()));
    previous = share;
  }
  EXPECT_LT(std::abs(mean_z(overlaps, 62.5, 250 * 0.25 * 0.75 * 750 / 999)), kNormalBound);
}

}  // namespace
}  // namespace fedarena
