#pragma once

#include <optional>
#include <string>

namespace fedarena::results {

/// The number that the whole text is; none for other texts and for "nan".
std::optional<double> as_number(const std::string& text);

/// Less than 0, 0 or greater: numbers as numbers, other texts in natural order.
int compare_values(const std::string& left, const std::string& right);

}  // namespace fedarena::results
