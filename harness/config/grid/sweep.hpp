#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/config/syntax/document.hpp"
#include "harness/config/sections/sections.hpp"

namespace fedarena::config {

/// What a point of a grid gives: paths such as "partition.alpha" and their values as text, by path.
using Swept = std::vector<std::pair<std::string, std::string>>;

/// One entry of [sweep] or [tuning]: a path and the values that it takes in turn.
struct Dimension {
  std::string path;
  Place place;
  std::vector<Written> values;                ///< at least one, all different
  std::string_view section = kSweep;          ///< where it stands
  std::optional<std::size_t> algorithm = {};  ///< the one whose cells alone it concerns, by position
};

/// The entry of that section, a list of different values. Throws Error for anything else.
Dimension dimension_of(const Setting& entry, std::string_view section, Document& document);

/// The dimension, once its values are known. Throws Error unless they are different, and no empty tables.
Dimension checked_dimension(Dimension dimension, Document& document);

/// The entries of the document's [sweep], in the order of the file. Throws Error for what is no list of
/// different values, and for keys that cannot be swept.
std::vector<Dimension> dimensions_of(Document& document);

/// Puts a value of the dimension into the document. Throws Error as `put_override` does, at the value.
void apply_value(Document& document, const Dimension& dimension, std::size_t value,
                 const std::vector<SectionSpec>& specs);

/// What a value of the dimension gives.
Swept swept_by(const Dimension& dimension, std::size_t value);

/// Where what the value gives is written: the value itself, and keys and values of a table.
void add_places(std::vector<std::string>& places, const Dimension& dimension, std::size_t value);

/// Throws the error again, with the point where the reading failed unless its place is one of `places`.
[[noreturn]] void rethrow_at_point(const Error& error, const std::vector<std::string>& places,
                                   const Swept& swept);

/// A value as `Swept` has it: the same number has one text, however a file writes it.
std::string plain_text(const Value& value);

/// A number for a text, the same on every machine: 64-bit FNV-1a.
std::uint64_t stable_hash(std::string_view text);

/// The name of a point, such as "partition.alpha=0.1,training.rate=0.01": safe as a folder name, whatever the
/// values hold, different for different points, and the same wherever the file lists them.
std::string point_name(const Swept& swept);

}  // namespace fedarena::config
