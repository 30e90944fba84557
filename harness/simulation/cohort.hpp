#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/algorithm.hpp"

#include "harness/oracle/policies.hpp"
#include "harness/oracle/random_source.hpp"

namespace fedarena {

/// The clients of a round, ascending: all of them, or `size` drawn without replacement; by Poisson sampling
/// each with probability size / population on its own, so that there may be none. A function of (seed, round)
/// alone, so that every algorithm meets the same cohorts, unless the operating system draws.
std::vector<std::int64_t> draw_cohort(std::uint64_t seed, std::int64_t round, std::int64_t population,
                                      std::int64_t size, std::string_view sampling = kWithoutReplacement,
                                      const std::string& noise_source = kStreamNoise);

/// The clients that never train, ascending: `count` of them, a function of the seed alone.
std::vector<std::int64_t> choose_held_out(std::uint64_t seed, std::int64_t population, std::int64_t count);

/// The decoded messages of a cohort; sums run in client order.
class CohortUplink final : public Uplink {
 public:
  explicit CohortUplink(std::vector<Message> messages) : messages_(std::move(messages)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(messages_.size()); }
  Params mean(Key<Params> key) const override;
  Params mean(Key<Params> key, Key<std::int64_t> weight) const override;
  std::span<const Message> each() const override { return messages_; }

 private:
  Params weighted(Key<Params> key, std::span<const double> weights) const;

  std::vector<Message> messages_;
};

}  // namespace fedarena
