#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partitions/kinds.hpp"

namespace fedarena {

/// The settings of "Dirichlet, per class over clients" that most of its variants share.
struct ConcentrationSettings : Dealing {
  double alpha = 0.5;
  std::int64_t min_examples = 10;

  static const Schema<ConcentrationSettings>& schema();
};

/// Which clients take part when the next class is split; a client that does not has its proportion set to
/// zero, and the others' are scaled up to sum to 1.
enum class Cap {
  kNone,       ///< all
  kBelowMean,  ///< those that hold fewer than examples / clients so far
  kUpToMean,   ///< those that hold no more than that
};

/// One way to split each class over the clients by proportions from Dirichlet(alpha, ..., alpha).
struct ClassSplit {
  std::int64_t clients = 1;
  double alpha = 0.5;
  std::int64_t min_examples = 1;  ///< of every client; all is drawn again until each has them
  std::uint64_t attempts = 1000;  ///< draws before it is given up
  Cap cap = Cap::kNone;
  bool shuffled = true;                     ///< whether a class is shuffled before it is cut
  std::vector<std::int64_t> order = {};     ///< in which classes are split; empty: ascending
  std::string least_from = "min_examples";  ///< the setting that min_examples follows from
};

/// Splits every class. `members`: the indices of each class. Throws Error where no draw gives every client
/// its least number of examples.
Partition split_classes(ClassSplit split, const std::vector<std::vector<std::int64_t>>& members,
                        std::uint64_t seed);

}  // namespace fedarena
