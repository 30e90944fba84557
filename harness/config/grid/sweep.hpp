#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// How entries of [sweep] are written, for messages.
inline constexpr std::string_view kSweepForm =
    "\"section.key\" = [values] or \"algorithms.LABEL.key\" = [values], with the path in quotes";

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

}  // namespace fedarena::config
