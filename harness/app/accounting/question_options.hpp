#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fedarena/accounting/account.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena {

/// How to account and what to print, as several commands ask it.
struct QuestionOptions {
  std::string accountant;  ///< "": RDP and PLD
  AccountSettings settings;
  bool has_delta = false;
  std::string format = "text";

  /// The accountants that are asked.
  std::vector<std::string> accountants() const;
  bool json() const { return format == "json"; }
};

/// Adds --delta, --accountant, --orders, --conversion, --assume and --format.
void add_question_options(CLI::App& command, QuestionOptions& options);

/// The Error for a command line without --delta.
Error missing_delta();

/// Adds an option that takes a number.
void add_number(CLI::App& command, const std::string& option, std::optional<double>& number,
                const Constraint& constraint, const std::string& doc);

}  // namespace fedarena
