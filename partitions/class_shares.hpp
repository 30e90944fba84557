#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partitions/kinds.hpp"

namespace fedarena {

/// Where each client's share ends when `examples` are cut by proportions that sum to 1: floor(cumulative
/// proportion * examples); the last client takes what rounding leaves.
std::vector<std::int64_t> cut_by(const std::vector<double>& proportions, std::int64_t examples);

/// Throws Error where the data cannot give every client its least number of examples.
void check_least_examples(std::int64_t clients, std::int64_t least, std::int64_t examples);

/// Proportions are drawn again until every client has its least number of examples. This counts the draws and
/// says when to give up: after `most` of them, or after 20 each of which left 50 clients or more with too
/// few. If clients fall short independently, the number of those that do has so large a mean then that
/// another thousand draws would succeed with a probability below 1e-12.
class Draws {
 public:
  explicit Draws(std::uint64_t most) : most_(most) {}

  bool go_on() const { return made_ < most_ && !hopeless(); }
  std::uint64_t made() const { return made_; }
  /// One more was made, and left so many clients with too few.
  void fail(std::int64_t short_clients);
  /// Throws the Error; the least number follows from `setting`.
  [[noreturn]] void refuse(std::int64_t clients, std::int64_t least, double alpha,
                           const std::string& setting) const;

 private:
  bool hopeless() const;

  std::uint64_t most_;
  std::uint64_t made_ = 0;
  std::int64_t fewest_short_ = 0;  // of any draw
};

/// The settings of "Dirichlet, per class over clients" that most of its variants share, in these words or
/// others.
struct ConcentrationSettings : Dealing {
  double alpha = 0.5;
  std::int64_t min_examples = 10;

  static Schema<ConcentrationSettings> schema(
      const std::string& alpha_doc =
          "The concentration: small values give each class to few clients, large ones approach equal shares.",
      const std::string& least_doc =
          "The least number of examples of a client; proportions are drawn again until every client has it.");
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
