#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena::results {

/// The columns of a terminal that UTF-8 text fills, one a code point.
std::size_t display_width(std::string_view text);

/// `text` with spaces up to `width` columns, before it when `right_aligned`.
std::string padded(std::string_view text, std::size_t width, bool right_aligned);

/// Enough of a hash for an eye.
std::string short_hash(const std::string& hash);
/// The value of a setting, as an experiment file writes it, for an eye: of a SHA-256 as much.
std::string value_in_words(const std::string& text);

using fedarena::one_line;

/// The message on one line, its remedy as a sentence of its own: for lists of problems.
std::string in_one_line(const Error& error);
/// The same behind the path that it is about, unless it names that.
std::string in_one_line(const Error& error, const std::string& path);

/// The greatest display width in each column; rows may be of unequal length.
std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows);

/// Cells of one line in columns of these widths, two spaces apart, without spaces at its end. Columns are
/// aligned to the left where `right_aligned` does not say otherwise.
std::string aligned_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                         const std::vector<bool>& right_aligned);

/// Lines of such cells, each as wide as it must be.
std::string aligned_lines(const std::vector<std::vector<std::string>>& lines,
                          const std::vector<bool>& right_aligned);

/// "seed 1", "seeds 1, 3".
std::string seeds_text(std::span<const std::int64_t> seeds);

/// "7", or "7-9" where the last one differs from the first.
std::string range_text(std::int64_t first, std::int64_t last);

/// The parts between commas, at least one, without the spaces around them.
std::vector<std::string_view> split_at_commas(std::string_view text);
/// What the text in double quotes says, which escape some of it; any other text as it is.
std::string unquoted(std::string_view text);

/// Adds notes, each as one line without a full stop: renderers end sentences as they need.
void append_notes(std::vector<std::string>& notes, const std::vector<std::string>& more);

/// Fields as one line of comma-separated values, each made printable and quoted as RFC 4180 says, with a line
/// feed at the end.
std::string csv_line(const std::vector<std::string>& fields);

/// A number as a field, as exact_number gives it; empty where there is none.
std::string csv_number(std::optional<double> number);

/// The labels of algorithm entries that a user names, as with --labels; none: all of them.
using Labels = std::vector<std::string>;

/// Throws Error, with the nearest one, for a label of that option that is not among the known ones.
void check_labels(const Labels& wanted, const std::set<std::string>& known,
                  std::string_view option = "--labels");

/// Whether an entry of that label is wanted.
bool wants(const Labels& wanted, const std::string& label);

}  // namespace fedarena::results
