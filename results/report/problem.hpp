#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fedarena::results {

/// Something in a run directory that could not be shown, or that contradicts the rest of it.
struct Problem {
  std::filesystem::path run;
  std::string what;  ///< file, field and reason, in one line
};

using Problems = std::vector<Problem>;

}  // namespace fedarena::results
