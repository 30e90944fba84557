#pragma once

#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// Reads the metric from the rounds of every run in place of each row's result, and returns notes that say
/// which runs have no such number, and why: their rows then have no result. Throws Error for rounds that
/// cannot be read.
std::vector<std::string> read_metric(const RoundMetric& metric, std::vector<Row>& rows,
                                     const SettingNames& names);

/// Marks the best rows of each setting, those that print the same result all of them, and returns notes that
/// say where rows cannot be compared. Rows of one setting come one after the other.
std::vector<std::string> mark_best(std::vector<Row>& rows, const SettingNames& names);

}  // namespace fedarena::results
