#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/measures/choices.hpp"
#include "results/plot/gnuplot.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// The only finished run among these in which clients took one of several models; its choices. An Error where
/// there is none or more than one: a picture shows one run.
struct RunChoices {
  std::string name;  ///< label and seed
  Choices choices;
  std::vector<std::string> notes = {};  ///< runs that are left out because they cannot be read
};
RunChoices find_choices(std::span<const FoundRun> runs);

/// The gnuplot script, with its data, that draws a row for each client and a column for each round, in the
/// colour of the model that the client took. An Error where there are too many of either.
std::string choices_script(const RunChoices& run, Terminal terminal);

/// The same as JSON: {"run": ..., "clients": [{"client": 5, "taken": [{"round": 1, "model": 0}, ...]}, ...],
/// "notes": [...]}.
std::string choices_json(const RunChoices& run);

}  // namespace fedarena::results
