#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// Reads the metric from the rounds of every run in place of each row's result, and returns notes that say
/// which runs have no such number, and why: their rows then have no result. `name` names a row. Throws Error
/// for rounds that cannot be read.
std::vector<std::string> read_metric(const RoundMetric& metric, std::vector<Row>& rows,
                                     const std::function<std::string(const Row&)>& name);

}  // namespace fedarena::results
