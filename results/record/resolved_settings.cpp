#include "results/record/resolved_settings.hpp"

namespace fedarena::results {
namespace {

std::string_view without(std::string_view text, std::string_view first, std::string_view last) {
  if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last))
    return text;
  return text.substr(first.size(), text.size() - first.size() - last.size());
}

}  // namespace

std::map<std::string, std::string> resolved_settings(std::string_view toml) {
  std::map<std::string, std::string> settings;
  std::string section;
  while (!toml.empty()) {
    const std::size_t end = toml.find('\n');
    const std::string_view line = toml.substr(0, end);
    toml.remove_prefix(end == std::string_view::npos ? toml.size() : end + 1);
    if (line.starts_with('[')) {
      section = without(without(line, "[", "]"), "[", "]");
      continue;
    }
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string_view::npos) continue;
    settings[section + "." + std::string(line.substr(0, equals))] =
        without(line.substr(equals + 3), "\"", "\"");
  }
  return settings;
}

}  // namespace fedarena::results
