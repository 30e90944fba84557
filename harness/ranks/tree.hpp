#pragma once

#include <vector>

namespace fedarena {

/// Where a rank stands in the tree by which rank 0's bytes reach all others: at most two below each, so that
/// no link carries them more than twice, and ranks of one host, whose numbers are neighbours, mostly among
/// themselves.
struct TreePlace {
  int above = -1;  ///< none of rank 0
  std::vector<int> below = {};
};

/// `rank` in [0, count). Each takes the first half of the numbers after it, then the second, and so on.
inline TreePlace place_in_tree(int rank, int count) {
  TreePlace place;
  int first = 0, end = count;
  const auto second_half = [&] { return first + 1 + (end - first - 1) / 2; };
  while (first != rank) {
    place.above = first;
    const int middle = second_half();
    if (rank < middle) {
      ++first;
      end = middle;
    } else {
      first = middle;
    }
  }
  if (first + 1 < second_half()) place.below.push_back(first + 1);
  if (second_half() < end) place.below.push_back(second_half());
  return place;
}

}  // namespace fedarena
