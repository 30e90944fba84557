#pragma once

#include <vector>

#include "harness/config/syntax/document.hpp"
#include "harness/config/sections/experiment.hpp"
#include "harness/config/sections/sections.hpp"

namespace fedarena::config {

/// What an algorithm's own section chooses, complete. What its table leaves out comes from `shared` when both
/// choose the same, else it is the default; without such a section it is `shared`. Throws Error.
Choice own_choice(const Table& algorithm, const SectionSpec& own, const Choice& shared,
                  const std::vector<SectionSpec>& specs);

/// Throws Error for an override of the shared section that no algorithm heeds, each having its own.
/// `chosen[i]` is what the algorithm of `algorithms[i]` chose.
void check_shared_overrides(const Table& shared_table, const Choice& shared, const SectionSpec& own,
                            const std::vector<Table>& algorithms, const std::vector<Choice>& chosen);

/// Throws Error, at the algorithm's name, when it requires another policy than the one that it runs under.
void check_required_policy(const AlgorithmEntry& entry, const Table& table, const SectionSpec& algorithms);

}  // namespace fedarena::config
