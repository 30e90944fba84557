#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedarena/base/schema.hpp"

namespace fedarena {

/// Throws Error, naming the option, unless the text is one of the names.
void check_name(const std::string& option, const std::string& text, const std::vector<std::string>& names);

/// The number that a text writes, to the last bit: "0.0256", "1e-5". Throws Error, naming the option, when
/// the text is anything else, not finite, or not what the constraint allows.
double read_number(const std::string& option, const std::string& text, const Constraint& constraint);

/// The same for a whole number, which may also be written as "1e9".
std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least);

/// A number with seven significant digits that is not smaller, or not larger, than the given one.
std::string shown_at_least(double number);
std::string shown_at_most(double number);

}  // namespace fedarena
