#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

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

}  // namespace fedarena
