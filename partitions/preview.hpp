#pragma once

#include <cstdint>
#include <string>

#include "partitions/card.hpp"

namespace fedarena {

/// Clients by classes as text: sizes, entropies, a heat map of one or two columns a class, and the counts
/// where there are at most 20 classes. Not more than `most_clients` rows; a last line says what is left out.
/// Without labels there are sizes alone.
std::string preview(const PartitionStatistics& statistics, std::int64_t most_clients = 200);

}  // namespace fedarena
