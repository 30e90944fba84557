#pragma once

#include <vector>

namespace fedarena {

/// To whom a rank in [0, count) passes rank 0's bytes on, in the tree by which they reach all others: at most
/// two, so that no link carries them more than twice, and ranks of one host, whose numbers are neighbours,
/// mostly among themselves. Each takes the first half of the numbers after it, then the second, and so on.
inline std::vector<int> below_in_tree(int rank, int count) {
  int first = 0, end = count;
  const auto second_half = [&] { return first + 1 + (end - first - 1) / 2; };
  while (first != rank) {
    const int middle = second_half();
    if (rank < middle) {
      ++first;
      end = middle;
    } else {
      first = middle;
    }
  }
  std::vector<int> below;
  if (first + 1 < second_half()) below.push_back(first + 1);
  if (second_half() < end) below.push_back(second_half());
  return below;
}

}  // namespace fedarena
