#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace fedarena
