#pragma once

#include <string>

#include "results/record/partition_file.hpp"

namespace fedarena::results {

/// A figure that shows how many examples of each class each client holds: a row for each class, a column for
/// each client, the fuller its colour, the more examples. Of many clients or classes a part is drawn, evenly
/// chosen, and the caption says so; of few, each count is printed. Empty where there are no classes.
std::string partition_map(const RecordedPartition& partition);

}  // namespace fedarena::results
