#pragma once

#include <string>
#include <vector>

#include "tests/harness/app/program.hpp"

namespace fedarena::test {

/// Compares a text with `tests/golden/<name>`; the failure shows the lines that differ. With
/// FEDARENA_UPDATE_GOLDEN=1 in the environment the file is written instead.
void expect_golden(const std::string& name, const std::string& text);

/// Runs the commands of `tests/golden/<name>`, the lines "$ fedarena ..." of it, and compares what they
/// print: each is refused as a mistake of the user. For a new case, write such a line there and have the rest
/// written.
void expect_refusals(const Scratch& scratch, const std::string& name);
/// The same of commands that must succeed.
void expect_answers(const Scratch& scratch, const std::string& name);

/// A transcript: a command line, all that it printed, and its exit code, with paths of this machine replaced.
std::string transcript(const Scratch& scratch, const CommandLine& command, const Outcome& outcome);

/// The transcript of commands that must succeed.
std::string answers(const Scratch& scratch, const std::vector<CommandLine>& commands);

/// Runs commands, checks that each is refused as a mistake of the user (exit code 2, one message, nothing on
/// stdout) and returns the transcript of all.
std::string refusals(const Scratch& scratch, const std::vector<CommandLine>& commands,
                     const Start& start = {});

}  // namespace fedarena::test
