// Closed forms, and what every partition promises over random inputs. Error rates: see
// statistical_bounds.hpp, 10^-6 a comparison.
#include "partitions/partition.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "partitions/card.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/matchers.hpp"
#include "tests/partitions/labelled.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

TEST(PartitionNames, AreInTheOrderOfTheRegistry) {
  EXPECT_THAT(partition_names(), ElementsAre("iid", "quantity", "classes", "shared-classes", "shards",
                                             "dirichlet", "dirichlet-niid-bench", "dirichlet-flower",
                                             "dirichlet-pfllib", "dirichlet-pfl", "by-user"));
}

TEST(PartitionNames, EachHasFieldsAndASentence) {
  for (const std::string& kind : partition_names()) {
    EXPECT_EQ(partition_fields(kind).front().name, "clients") << kind;
    EXPECT_EQ(to_text(partition_fields(kind).front().fallback), kind == "by-user" ? "0" : "5") << kind;
    EXPECT_TRUE(partition_summary(kind).ends_with('.')) << kind;
    for (const Field& field : partition_fields(kind)) EXPECT_TRUE(field.doc.ends_with('.')) << field.name;
  }
}

TEST(Iid, CutsIntoSizesThatDifferByAtMostOne) {
  const Partition partition = make_partition("iid", {{"clients", 4}}, unlabelled(10), 1);
  std::vector<std::size_t> sizes;
  for (const auto& share : partition) sizes.push_back(share.size());
  EXPECT_THAT(sizes, ElementsAre(2, 3, 2, 3));
}

TEST(Iid, IgnoresLabels) {
  const Labelled data = Labelled::balanced(10, 10);
  EXPECT_EQ(make_partition("iid", {}, data, 1), make_partition("iid", {}, unlabelled(100), 1));
}

TEST(Classes, TakesClassesInAscendingOrder) {
  const Labelled data({3, 2, 1, 0, 3, 2}, 4);
  EXPECT_THAT(make_partition("classes", {{"clients", 2}}, data, 1),
              ElementsAre(Indices{2, 3}, Indices{0, 1, 4, 5}));
}

TEST(Classes, TakesClassesInTheGivenOrderAndLeavesOutOthers) {
  const Labelled data = Labelled::balanced(10, 1);  // the index of an example is its class
  const Indices order = {5, 6, 1, 2, 0, 8, 9, 3, 4, 7};
  EXPECT_THAT(make_partition("classes", {{"class_order", order}}, data, 1),
              ElementsAre(Indices{5, 6}, Indices{1, 2}, Indices{0, 8}, Indices{3, 9}, Indices{4, 7}));
  EXPECT_THAT(
      make_partition("classes",
                     {{"clients", 3}, {"classes_per_client", 1}, {"class_order", Indices{4, 0, 2}}}, data, 1),
      ElementsAre(Indices{4}, Indices{0}, Indices{2}));
}

TEST(Classes, NeedsNoLuck) {
  const Labelled data = Labelled::balanced(10, 5);
  EXPECT_EQ(make_partition("classes", {}, data, 1), make_partition("classes", {}, data, 2));
}

TEST(Classes, CutsEveryClientToTheSmallestWhenAsked) {
  const Labelled data({0, 0, 0, 1, 1, 0}, 2);
  const Settings whole = {{"clients", 2}, {"classes_per_client", 1}};
  EXPECT_THAT(make_partition("classes", whole, data, 1), ElementsAre(Indices{0, 1, 2, 5}, Indices{3, 4}));

  Settings equal = whole;
  equal.emplace_back("equal_sizes", true);
  std::vector<std::int64_t> kept(6);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Partition partition = make_partition("classes", equal, data, seed);
    ASSERT_EQ(partition[0].size(), 2U);
    EXPECT_THAT(partition[1], ElementsAre(3, 4));
    for (const std::int64_t index : partition[0]) ++kept[static_cast<std::size_t>(index)];
  }
  // Each of the four examples stays in half of the 200 seeds: 100 +- 7; beyond 35 once in 10^6.
  for (const std::size_t index : {0U, 1U, 2U, 5U})
    EXPECT_NEAR(static_cast<double>(kept[index]), 100, 35) << index;
}

TEST(Dirichlet, BearsClassesWithoutExamples) {
  const Labelled data({7, 7, 7, 7, 7, 7}, 10);
  const Partition partition =
      make_partition("dirichlet", {{"clients", 2}, {"min_examples", 2}, {"alpha", 10.0}}, data, 1);
  EXPECT_EQ(partition[0].size() + partition[1].size(), 6U);
}

// These values are part of every recorded result. No draw behind them depends on the last bits of a
// logarithm.
TEST(Partition, GivesTheRecordedIndices) {
  const Labelled data = Labelled::balanced(2, 6);
  const Settings settings = {{"clients", 3}, {"min_examples", 1}};
  EXPECT_THAT(make_partition("iid", {{"clients", 3}}, data, 42),
              ElementsAre(Indices{1, 2, 6, 11}, Indices{0, 3, 5, 8}, Indices{4, 7, 9, 10}));
  EXPECT_THAT(make_partition("dirichlet", settings, data, 42),
              ElementsAre(Indices{3, 5, 7, 9, 11}, Indices{4}, Indices{0, 1, 2, 6, 8, 10}));
  const Settings half = {{"alpha", 0.5}};
  for (const auto& [kind, given, hash] : std::vector<std::tuple<std::string, Settings, std::string>>{
           {"dirichlet-niid-bench", half, "040d749f6cddfd94"},
           {"dirichlet-flower", half, "a751f73108235afa"},
           {"dirichlet-pfllib", half, "040d749f6cddfd94"},
           {"dirichlet-pfl", half, "2aad90bb964b2774"},
           {"quantity", half, "bd2202ad1328ba5b"},
           {"shards", {}, "96b1197c7aca9240"},
           {"shared-classes", {{"clients", 10}}, "c1fdeab66b64daff"}}) {
    EXPECT_EQ(index_hash(make_partition(kind, given, Labelled::balanced(10, 100), 42)), hash) << kind;
  }
}

const int kInputs = test::long_tests() ? 200 : 40;

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
  Indices order = stream.permutation(classes);
  order.resize(static_cast<std::size_t>(owners * each));
  const Settings by_class = {
      {"clients", owners}, {"classes_per_client", each}, {"class_order", Value(order)}};
  const double alpha = std::pow(10, 3 * stream.uniform());
  // Enough holders for every class, and never more than it has examples.
  const std::int64_t sharers = draw_between(stream, classes, 20);
  const Settings from_alpha = {{"clients", clients}, {"min_examples", 1}, {"alpha", alpha}};
  Settings equal = by_class;
  equal.emplace_back("equal_sizes", true);
  return {
      {"iid", {{"clients", clients}}, clients, true},
      {"classes", by_class, owners, owners * each == classes},
      {"classes", equal, owners, false},
      {"dirichlet", from_alpha, clients, true},
      {"dirichlet-niid-bench", from_alpha, clients, true},
      {"quantity", from_alpha, clients, true},
      // Eleven draws are soon used up.
      {"dirichlet-flower",
       {{"clients", clients},
        {"min_examples", 1},
        {"alpha", 30 + alpha},
        {"self_balancing", stream.below(2) == 1}},
       clients,
       true},
      {"dirichlet-pfllib", {{"clients", clients}, {"batch_size", 1}, {"alpha", alpha}}, clients, true},
      {"dirichlet-pfl", {{"clients", clients}, {"alpha", alpha / 100}}, clients, false},
      {"shards", {{"clients", clients}, {"shards_per_client", draw_between(stream, 1, 4)}}, clients, true},
      {"shared-classes",
       {{"clients", sharers}, {"classes_per_client", draw_between(stream, 1, classes)}},
       sharers,
       true}};
}

void check_promises(const Partition& partition, const PropertiesRequest& request,
                    const PartitionInput& input) {
  ASSERT_EQ(std::ssize(partition), request.clients);
  std::vector<bool> dealt(static_cast<std::size_t>(input.examples));
  std::int64_t total = 0;
  for (const Indices& share : partition) {
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
      const Partition partition = make_partition(request.kind, request.settings, data, seed);
      check_promises(partition, request, data);
      EXPECT_EQ(partition, make_partition(request.kind, request.settings, data, seed));
    }
  }
}

TEST(Iid, HasEqualSizesUpToOne) {
  Stream stream({.seed = 2});
  for (int i = 0; i < kInputs; ++i) {
    const std::int64_t clients = draw_between(stream, 1, 50);
    const std::int64_t examples = clients + draw_between(stream, 0, 1000);
    const Partition partition = make_partition("iid", {{"clients", clients}}, unlabelled(examples), stream());
    for (const auto& share : partition) {
      EXPECT_GE(std::ssize(share), examples / clients);
      EXPECT_LE(std::ssize(share), (examples + clients - 1) / clients);
    }
  }
}

// Client 0 holds example i with probability 1/4: over many seeds the 8 counts have 7 degrees of freedom.
// The counts of draws without replacement vary by 6/7 of what independent ones do, so the bound is on the
// safe side.
TEST(Iid, GivesEveryExampleToAClientEquallyOften) {
  std::vector<std::int64_t> held(8);
  for (std::uint64_t seed = 0; seed < (test::long_tests() ? 40'000 : 10'000); ++seed) {
    const Partition partition = make_partition("iid", {{"clients", 4}}, unlabelled(8), seed);
    for (const std::int64_t index : partition[0]) ++held[static_cast<std::size_t>(index)];
  }
  EXPECT_TRUE(equally_likely(held));
}

TEST(Partition, OfAnotherSeedIsAnother) {
  const Labelled data = Labelled::balanced(10, 50);
  for (const std::string& kind : partition_names()) {
    if (kind == "classes" || kind == "by-user") continue;  // these draw only what they drop or choose
    const Settings settings = kind == "shared-classes" ? Settings{{"clients", 10}} : Settings{};
    std::set<std::string> hashes;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      hashes.insert(index_hash(make_partition(kind, settings, data, seed)));
    }
    EXPECT_EQ(hashes.size(), 40U) << kind;
  }
}

// The overlap of client 0's 250 of 1000 examples under two seeds is hypergeometric: mean 62.5, variance
// 250 * 1/4 * 3/4 * 750/999. Over so many pairs of neighbouring seeds the mean is normal: 10^-6 for each
// kind.
TEST(Iid, OfNeighbouringSeedsIsIndependent) {
  std::vector<double> overlaps;
  Indices previous;
  for (std::uint64_t seed = 0; seed <= (test::long_tests() ? 2'000 : 500); ++seed) {
    const Indices share = make_partition("iid", {{"clients", 4}}, unlabelled(1000), seed)[0];
    Indices common;
    std::set_intersection(share.begin(), share.end(), previous.begin(), previous.end(),
                          std::back_inserter(common));
    if (seed > 0) overlaps.push_back(static_cast<double>(common.size()));
    previous = share;
  }
  EXPECT_LT(std::abs(mean_z(overlaps, 62.5, 250 * 0.25 * 0.75 * 750 / 999)), kNormalBound);
}

}  // namespace
}  // namespace fedarena
