#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/message_of.hpp"
#include "tests/paths.hpp"

namespace fedarena {

using test::message_of;

/// A line of a table of reference numbers.
class ReferenceRow {
 public:
  ReferenceRow(const std::vector<std::string>& names, const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < names.size() && i < fields.size(); ++i) fields_[names[i]] = fields[i];
  }
  const std::string& text(const std::string& name) const { return fields_.at(name); }
  double number(const std::string& name) const { return std::stod(fields_.at(name)); }
  std::int64_t whole(const std::string& name) const { return std::stoll(fields_.at(name)); }

 private:
  std::map<std::string, std::string> fields_;
};

/// Fields between commas; "..." may hold commas, and "" for one quotation mark.
inline std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (letter == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[i++];
      } else {
        quoted = !quoted;
      }
    } else if (letter == ',' && !quoted) {
      fields.emplace_back();
    } else if (letter != '\r') {
      fields.back() += letter;
    }
  }
  return fields;
}

/// The rows of a table in the folder that FEDARENA_TEST_REFERENCE names, or shared/reference beside the
/// checkout; none, and a line that says what is not tested, where it is not at hand.
inline std::vector<ReferenceRow> reference_rows(const std::string& table) {
  namespace fs = std::filesystem;
  fs::path folder = test::source_folder().parent_path() / "shared" / "reference";
  if (const char* named = std::getenv("FEDARENA_TEST_REFERENCE")) folder = named;
  std::ifstream file(folder / table);
  if (!file) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    fmt::print("reference numbers absent ({}), reduced to nothing: {}.{}\n", (folder / table).string(),
               test->test_suite_name(), test->name());
    return {};
  }
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split_csv(line);
  std::vector<ReferenceRow> rows;
  while (std::getline(file, line)) rows.emplace_back(names, split_csv(line));
  EXPECT_FALSE(rows.empty()) << table;
  return rows;
}

/// EXPECT that `value` is `golden` but for a relative error.
inline void expect_relative(double value, double golden, double tolerance, const std::string& of = "") {
  EXPECT_LE(std::abs(value - golden), tolerance * std::abs(golden))
      << of << ": " << fmt::format("{} instead of {}", value, golden);
}

}  // namespace fedarena
