#pragma once

#include <span>
#include <string>

#include "results/table/rows.hpp"

namespace fedarena::results {

/// Gathers runs into rows as tables do. Where runs of several folders would be one row but do not fit
/// together (other settings, or the same seed twice), each folder has a row of its own; where those of one
/// folder do not, that is an Error.
Rows gather_compared_rows(std::span<const FoundRun> runs);

/// Gives rows names that tell them apart: the plain name, and for those that share it what differs in their
/// settings, "fedavg (model mlp)", or the folder where nothing does, "fedavg (runs/slow)".
void name_apart(std::span<RowRuns> rows);

/// The name of a row by itself, in one line: "fedprox, mu=0.1".
std::string plain_name(const RowRuns& row);

}  // namespace fedarena::results
