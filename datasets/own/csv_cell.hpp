#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fedarena {

/// The whole trimmed text as a finite number: "12", "+0.5", "1e-3". `decimal` is what separates the decimals,
/// '.' or
/// ','. What is too near to 0 for a double is 0.
std::optional<double> number_of(std::string_view text, char decimal = '.');

/// Whether people would read the text as a number, though `number_of` may not: "1,234.5", "6,3", "$5", "45
/// %", also with Unicode's blanks and minus signs.
bool resembles_number(std::string_view text);

/// Of "True" and "False" in any case; none for anything else.
std::optional<bool> truth_of(std::string_view text);

/// What is left of a name without what people write differently by accident: blanks and what is not seen, a
/// full stop at the end, how an accent is stored, and how a number is written ("1.0" and "1"); with
/// `any_case` also capitals in names of several letters, and "True" for 1 and "False" for 0. `decimal`: what
/// separates decimals beside '.'.
std::string essence_of(std::string_view name, bool any_case, char decimal = '.');

/// Positions of two names of the same essence, the later one first; none where all differ in more.
std::optional<std::pair<std::size_t, std::size_t>> alike_names(const std::vector<std::string>& names,
                                                               bool any_case, char decimal = '.');

/// What is allowed instead, for messages: names that differ in more than `essence_of` leaves out.
std::string names_told_apart(bool any_case);

}  // namespace fedarena
