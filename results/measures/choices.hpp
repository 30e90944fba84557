#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// Who took which of several models, round by round.
struct Choices {
  /// One client that took some model in some round.
  struct Row {
    std::int64_t client = 0;
    std::int64_t most = 0;             ///< the model that it took most often, the lower one of two
    std::vector<std::int64_t> models;  ///< in each of `rounds`; kAbsent where it took none
  };
  static constexpr std::int64_t kAbsent = -1;

  std::vector<std::int64_t> rounds;  ///< in which somebody did, ascending
  std::vector<Row> rows;             ///< by the model taken most often, then by client
  std::int64_t models = 0;           ///< how many there are as far as anybody took them: the largest and one
};

Choices choices_of(std::span<const RoundRecord> rounds);

/// In words: how many clients, how many of those that took part again always took the same model, and how
/// many took each model last.
std::string choices_text(const Choices& choices);

}  // namespace fedarena::results
