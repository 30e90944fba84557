#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// Marks the best rows of each setting, those that print the same result all of them, and returns notes that
/// say where rows cannot be compared. Rows of one setting come one after the other; `where` names a setting.
std::vector<std::string> mark_best(std::vector<Row>& rows,
                                   const std::function<std::string(const Setting&)>& where);

}  // namespace fedarena::results
