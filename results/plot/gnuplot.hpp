#pragma once

#include <string>
#include <string_view>

namespace fedarena::results {

/// What gnuplot, as a child process, writes to its standard output for a script. An Error when it is not
/// installed, with the package to install, and when it fails, with its own words.
std::string run_gnuplot(std::string_view script);

}  // namespace fedarena::results
