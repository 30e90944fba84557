#include "fedarena/base/nearest.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fedarena {
namespace {

const std::vector<std::string> kNames = {"fedavg", "fedprox", "scaffold", "fedlap-dp"};

TEST(NearestName, FindsOneEdit) {
  EXPECT_EQ(nearest_name("fedavgg", kNames), "fedavg");  // insertion
  EXPECT_EQ(nearest_name("fedav", kNames), "fedavg");    // deletion
  EXPECT_EQ(nearest_name("fedivg", kNames), "fedavg");   // substitution
  EXPECT_EQ(nearest_name("fedvag", kNames), "fedavg");   // swap of neighbours
}

TEST(NearestName, CountsASwapAsOneEdit) {
  // Two swaps are two edits, but four substitutions, which would be too many for eight letters.
  EXPECT_EQ(nearest_name("csaffodl", kNames), "scaffold");
}

TEST(NearestName, IgnoresCase) { EXPECT_EQ(nearest_name("FedAvg", kNames), "fedavg"); }

TEST(NearestName, GivesNothingForSomethingElse) {
  EXPECT_EQ(nearest_name("mnist", kNames), "");
  EXPECT_EQ(nearest_name("a much longer name than any", kNames), "");
}

TEST(NearestName, GrowsMoreTolerantWithLength) {
  const std::vector<std::string> names = {"abc", "classes_per_client"};
  EXPECT_EQ(nearest_name("xyc", names), "");                                   // two of three letters differ
  EXPECT_EQ(nearest_name("clases_per_clients", names), "classes_per_client");  // two of eighteen
}

TEST(NearestName, PrefersTheFirstOfEqualDistance) {
  const std::vector<std::string> names = {"beta1", "beta2"};
  EXPECT_EQ(nearest_name("beta3", names), "beta1");
}

TEST(NearestName, BearsEmptyInput) {
  EXPECT_EQ(nearest_name("fedavg", {}), "");
  EXPECT_EQ(nearest_name("", kNames), "");
}

TEST(JoinNames, SeparatesWithCommas) {
  EXPECT_EQ(join_names(kNames), "fedavg, fedprox, scaffold, fedlap-dp");
  EXPECT_EQ(join_names({}), "");
}

}  // namespace
}  // namespace fedarena
