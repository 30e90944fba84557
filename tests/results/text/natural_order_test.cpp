#include "results/text/natural_order.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fedarena::results {
namespace {

// In order; every pair is checked both ways.
const std::vector<std::string> kOrdered = {"",
                                           "0",
                                           "1",
                                           "2",
                                           "10",
                                           "99999999999999999999",
                                           "100000000000000000000",
                                           "a",
                                           "a/x",
                                           "a-b/x",
                                           "fedavg",
                                           "fedavg-seed-2",
                                           "fedavg-seed-10",
                                           "fedavg-seed-10b",
                                           "fedprox",
                                           "z01",
                                           "z1",
                                           "z2",
                                           "\xC3\xA9"};

TEST(NaturalOrder, CountsAsPeopleDo) {
  for (std::size_t i = 0; i < kOrdered.size(); ++i) {
    for (std::size_t j = 0; j < kOrdered.size(); ++j) {
      EXPECT_EQ(natural_less(kOrdered[i], kOrdered[j]), i < j) << kOrdered[i] << " and " << kOrdered[j];
    }
  }
}

TEST(NaturalOrder, SortsAnyPermutationAlike) {
  std::vector<std::string> names = {"x1y2", "x01y10", "x1y02", "x1y", "x01y2"};
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected = names;
  std::sort(expected.begin(), expected.end(), natural_less);
  do {
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end(), natural_less);
    EXPECT_EQ(sorted, expected);
  } while (std::next_permutation(names.begin(), names.end()));
}

}  // namespace
}  // namespace fedarena::results
