#pragma once

namespace fedarena::results {

/// Where a quantity lies, with some probability.
struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

}  // namespace fedarena::results
