#include "results/text/csv_line.hpp"

#include <string_view>

#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string text = "\"";
  for (const char letter : field) {
    if (letter == '"') text += '"';
    text += letter;
  }
  return text + '"';
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ',';
    text += csv_field(fields[i]);
  }
  return text + "\n";
}

std::string csv_number(std::optional<double> number) { return number ? exact_number(*number) : ""; }

}  // namespace fedarena::results
