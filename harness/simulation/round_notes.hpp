#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/compute.hpp"
#include "fedarena/observations.hpp"

#include "results/record/record.hpp"

namespace fedarena {

/// What an algorithm tells of a round for people to look at. Nothing else rests on it.
struct RoundNotes {
  Batch synthetic = {};
  Observations observed = {};
  std::vector<std::int64_t> choices = {};  ///< of the cohort, in its order
};

/// The mean of each name over a round, names ascending. Error for a name of the harness's own measures.
std::vector<std::pair<std::string, double>> observed_means(const Observations& observed);

/// Which model each client chose; none where nothing was noted. Error unless there is one, from 0, for each
/// client of the cohort.
std::vector<results::ModelChoice> choices_of(std::span<const std::int64_t> cohort,
                                             std::span<const std::int64_t> choices);

}  // namespace fedarena
