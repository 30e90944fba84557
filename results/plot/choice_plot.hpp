#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/plot/gnuplot.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena::results {

/// Who took which of several models, round by round.
struct Choices {
  /// A model, and the position in `rounds` at which it was taken.
  struct Taken {
    std::size_t position = 0;
    std::int64_t model = 0;
    bool operator==(const Taken&) const = default;
  };
  /// One client that took some model in some round.
  struct Row {
    std::int64_t client = 0;
    std::int64_t most = 0;     ///< the model that it took most often, the lowest one of several
    std::vector<Taken> taken;  ///< positions ascending, at least one
  };

  std::vector<std::int64_t> rounds;  ///< in which somebody took one, ascending
  std::vector<std::int64_t> models;  ///< that somebody took, ascending
  std::vector<Row> rows;             ///< by the model taken most often, then by client
};

Choices choices_of(std::span<const RoundRecord> rounds);

/// In words: how many clients, how many of those that took part again always took the same model, and how
/// many took each model last.
std::string choices_text(const Choices& choices);

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
