#pragma once

#include <string>

#include "fedarena/base/error.hpp"

namespace fedarena::results {

/// What is wrong with a file of a run directory, in one line: the file's name, the line and field, the
/// reason. Without the remedy and the folder, which stands beside it wherever a problem is shown.
std::string problem_line(const Error& error);

}  // namespace fedarena::results
