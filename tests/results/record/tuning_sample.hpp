#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "results/record/sweep.hpp"

namespace fedarena::results {

/// What a grid of so many trials chose.
inline Tuning tuned_by(std::int64_t trials, Sweep chosen = {{"training.rate", "0.1"}}) {
  return {.search = "grid",
          .trials = trials,
          .seed = 0,
          .chosen = std::move(chosen),
          .criterion = std::string(kByValidationAccuracy),
          .score = 0.7123,
          .examples = 48'000,
          .seconds = 12.3};
}

}  // namespace fedarena::results
