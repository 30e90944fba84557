#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace fedarena {

/// How and where a command writes a table: "csv", "html", "json", "latex" or "markdown".
struct TextOutput {
  std::string format;                         ///< empty: what the file's ending says, or markdown
  std::optional<std::filesystem::path> file;  ///< none: stdout
};

/// Adds --format and -o.
void add_text_output(CLI::App& command, TextOutput& output);

/// The format to write in. Throws Error where it is not that of the file's ending, or there is none.
std::string format_of(const TextOutput& output);

/// Prints the text, or replaces the file by it. CSV has no place for notes, and a reader of the numbers must
/// not miss them: they go to stderr.
void write_text(const TextOutput& output, const std::string& format, const std::string& text,
                const std::vector<std::string>& notes);

}  // namespace fedarena
