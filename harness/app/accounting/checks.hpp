#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fedarena/base/schema.hpp"

namespace fedarena {

/// Checks of arguments whose messages say what is allowed and which name is nearest, whatever CLI11's
/// version.
CLI::Validator one_of(std::vector<std::string> names);
CLI::Validator whole_number(int least, int most);
CLI::Validator positive_number();

/// Throws Error, naming the option, unless the text is one of the names.
void check_name(const std::string& option, const std::string& text, const std::vector<std::string>& names);

/// Throws Error, naming the option, unless the file's name ends in one of these: ".png", ".svg".
void check_ending(const std::string& option, const std::filesystem::path& file,
                  const std::vector<std::string>& endings);

/// The number that a text writes, to the last bit: "0.0256", "1e-5". Throws Error, naming the option, when
/// the text is anything else, not finite, or not what the constraint allows.
double read_number(const std::string& option, const std::string& text, const Constraint& constraint);

/// The same for a whole number, which may also be written as "1e9".
std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least);

/// A number with seven significant digits that is not smaller, or not larger, than the given one.
std::string shown_at_least(double number);
std::string shown_at_most(double number);

}  // namespace fedarena
