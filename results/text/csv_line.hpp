#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fedarena::results {

/// Fields as one line of comma-separated values, quoted as RFC 4180 says, with a line feed at the end.
std::string csv_line(const std::vector<std::string>& fields);

/// A number as a field, as exact_number gives it; empty where there is none.
std::string csv_number(std::optional<double> number);

}  // namespace fedarena::results
