#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fedarena/accounting/event.hpp"

namespace fedarena {

/// What a command line says about accesses that are all alike; left out is none.
struct AccessSpec {
  std::optional<std::string> mechanism, sampling, adjacency;
  std::optional<double> noise_multiplier, sampling_rate, epochs, mechanism_epsilon;
  std::optional<std::int64_t> steps, batch_size, examples, dimension, categories;
  bool sizes_are_public = false;  ///< as they are where `examples` are given, too

  bool empty() const;
  /// Whether samples have a fixed size.
  bool fixed_size() const;
  /// The adjacency that is given, or the one under which the sampling has a proof: where a number of examples
  /// is given and everybody may know it, one example does not add or remove itself but contributes or not.
  Adjacency neighbours() const;
  /// The sampling rate that is given, or that batch size and examples give; 1 without either. Throws Error
  /// when both are.
  double rate() const;
  /// The number of accesses that is given, or that epochs give: an epoch is as many steps as batches hold all
  /// examples, the last one rounded up. None without either.
  std::optional<std::int64_t> count() const;
  /// The accesses. Throws Error for what is missing, and for what the mechanism does not know.
  Access access() const;
};

/// The options that fill a spec, without what `without` names.
void add_access_options(CLI::App& command, AccessSpec& spec, const std::vector<std::string>& without = {});

/// The spec that a text of the form "noise-multiplier=0.8,sampling-rate=0.01,steps=500" gives: the same
/// options, without dashes.
AccessSpec read_access_spec(const std::string& text);

}  // namespace fedarena
