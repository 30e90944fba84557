#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace fedarena {

/// Checks of arguments whose messages say what is allowed and which name is nearest, whatever CLI11's version.
CLI::Validator one_of(std::vector<std::string> names);
CLI::Validator whole_number(int least, int most);

}  // namespace fedarena
