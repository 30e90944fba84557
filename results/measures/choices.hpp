#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// Who took which of several models, round by round.
struct Choices {
  /// A model, and the position in `rounds` at which it was taken.
  struct Taken {
    std::size_t position = 0;
    std::int64_t model = 0;
    bool operator==(const Taken&) const = default;
  };
  /// One client that took some model in some round.
  struct Row {
    std::int64_t client = 0;
    std::int64_t most = 0;     ///< the model that it took most often, the lowest one of several
    std::vector<Taken> taken;  ///< positions ascending, at least one
  };

  std::vector<std::int64_t> rounds;  ///< in which somebody took one, ascending
  std::vector<std::int64_t> models;  ///< that somebody took, ascending
  std::vector<Row> rows;             ///< by the model taken most often, then by client
};

Choices choices_of(std::span<const RoundRecord> rounds);

/// In words: how many clients, how many of those that took part again always took the same model, and how
/// many took each model last.
std::string choices_text(const Choices& choices);

}  // namespace fedarena::results
