#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/config/grid/grid.hpp"
#include "harness/config/sections/reader.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// What a point of a grid gives: paths such as "partition.alpha" and their values as text, by path.
using Swept = std::vector<std::pair<std::string, std::string>>;

/// One entry of [sweep] or [tuning]: a path and the values that it takes in turn.
struct Dimension {
  std::string path;
  Place place;
  std::vector<ParsedValue> values;            ///< at least one, all different
  std::string_view section = kSweep;          ///< where it stands
  std::optional<std::size_t> algorithm = {};  ///< the one whose cells alone it concerns, by position
};

/// The entry of that section, a list of different values. Throws Error for anything else.
Dimension dimension_of(const Setting& entry, std::string_view section, const Document& document);

/// The dimension, once its values are known. Throws Error unless they are different, and no empty tables.
Dimension checked_dimension(Dimension dimension, const Document& document);

/// The entries of the document's [sweep], in the order of the file. Throws Error for what is not a list of
/// different values, and for keys that cannot be swept.
std::vector<Dimension> dimensions_of(const Document& document);

/// What a value of the dimension gives.
Swept swept_by(const Dimension& dimension, std::size_t value);

/// Numbers of dimensions, or for each of them that of the value that is taken.
using Indices = std::vector<std::size_t>;

/// All combinations of the values of the dimensions numbered `of`, the last one changing fastest; the others
/// stay at their first value.
std::vector<Indices> all_combinations(const std::vector<Dimension>& dimensions, const Indices& of);

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

/// A number for a text, the same on every machine: 64-bit FNV-1a.
std::uint64_t stable_hash(std::string_view text);

/// The name of a point, such as "partition.alpha=0.1,training.rate=0.01": safe as a folder name, whatever the
/// values hold, different for different points, and the same wherever the file lists them.
std::string point_name(const Swept& swept);

}  // namespace fedarena::config
