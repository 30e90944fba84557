#pragma once

#include <set>
#include <string>
#include <vector>

namespace fedarena::results {

/// The labels of algorithm entries that a user names with --labels; none: all of them.
using Labels = std::vector<std::string>;

/// Throws Error, with the nearest one, for a label that is not among the known ones.
void check_labels(const Labels& wanted, const std::set<std::string>& known);

/// Whether an entry of that label is wanted.
bool wants(const Labels& wanted, const std::string& label);

}  // namespace fedarena::results
