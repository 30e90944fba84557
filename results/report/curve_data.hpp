#pragma once

#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// All that the charts of a report show, as one JSON object: axes, measures, colours, the panels with the
/// rows of each setting, and the rows with their series. `series` holds `series_json` of each row of the
/// table. Rows of one name share a look, that of `fedarena plot`.
std::string curve_data(const Table& table, const std::vector<std::string>& series);

}  // namespace fedarena::results
