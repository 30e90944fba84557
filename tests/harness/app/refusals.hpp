#pragma once

#include <string>
#include <vector>

#include "tests/harness/app/program.hpp"

namespace fedarena::test {

/// Runs the command lines, checks that each is refused as a mistake of the user (exit code 2, one message,
/// nothing on stdout) and returns the transcript of all.
std::string refusals(const Scratch& scratch, const std::vector<std::vector<std::string>>& command_lines,
                     const Start& start = {});

}  // namespace fedarena::test
