#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/table/rows.hpp"

namespace fedarena::results {

/// Marks an epsilon that rests on an assumption nobody has proven; explained by a note.
inline constexpr const char* kAssumedMark = "†";

/// Marks an epsilon of the population that a run stands for; explained by a note.
inline constexpr const char* kAsIfMark = "*";

/// Marks the rounds of a run that its budget stopped; explained by a note.
inline constexpr const char* kStoppedMark = "‡";

/// What a reader must know about the epsilons of rows: why one is infinite or unproven, what it assumes or
/// stands for, what stopped a run, which audits contradict it, and which epsilons must not be compared.
/// `names` are those of the rows.
std::vector<std::string> privacy_notes(std::span<const RowRuns> rows, std::span<const std::string> names);

}  // namespace fedarena::results
