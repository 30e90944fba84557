#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/config/grid/grid.hpp"
#include "harness/config/grid/sweep.hpp"
#include "harness/config/sections/reader.hpp"

namespace fedarena::config {

/// A number for each dimension: the value that is taken, or how many values there are.
using Indices = std::vector<std::size_t>;

/// How many values each dimension has.
Indices counts_of(const std::vector<Dimension>& dimensions);

/// All combinations of the values of these dimensions, the last one changing fastest; the others stay at
/// their first value. `counts`: the values of every dimension, at least 1.
std::vector<Indices> all_combinations(const Indices& counts, const Indices& dimensions);

/// What the values `at` of the dimensions numbered `of` give.
Swept swept_at(const std::vector<Dimension>& dimensions, const Indices& at, const Indices& of);

/// The experiment with value `at[i]` of every dimension i. Throws Error, with the point where the reading
/// failed unless its place is one of those values.
Experiment experiment_at(const FileVariant& variant, const std::vector<Dimension>& dimensions,
                         const Indices& at);

/// Fills in the `policies` of each of a file's points.
void share_policies(std::vector<GridPoint>& points);

/// Whether a value under that path of a sweep counts for the algorithm, which may lack a setting that
/// [training] or [privacy] gives to all, or give its own.
bool is_heeded(const AlgorithmEntry& algorithm, const std::string& path);

/// A value as `Swept` has it: the same number has one text, however a file writes it.
std::string plain_text(const Value& value);

/// A number for a text, the same on every machine: 64-bit FNV-1a.
std::uint64_t stable_hash(std::string_view text);

/// The name of a point, such as "partition.alpha=0.1,training.rate=0.01": safe as a folder name, whatever the
/// values hold, different for different points, and the same wherever the file lists them.
std::string point_name(const Swept& swept);

}  // namespace fedarena::config
