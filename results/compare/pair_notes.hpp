#pragma once

#include <string>
#include <vector>

#include "results/compare/pairs.hpp"

namespace fedarena::results {

/// What all compared rows share: experiment, data set, partition, model, rounds and privacy, as far as they
/// do.
std::string pairs_caption(const std::vector<const ComparedRow*>& rows);

/// What a reader must know besides the pairs: about the data and its partition, about privacy, which seeds
/// were not paired, and what so few seeds cannot show.
std::vector<std::string> pair_notes(const Pairs& pairs, const std::vector<const ComparedRow*>& rows);

}  // namespace fedarena::results
