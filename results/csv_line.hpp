#pragma once

#include <string>
#include <vector>

namespace fedarena::results {

/// Fields as one line of comma-separated values, quoted as RFC 4180 says, with a line feed at the end.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace fedarena::results
