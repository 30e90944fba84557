#include "harness/app/data/data_options.hpp"

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/config/syntax/document.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

constexpr std::string_view kSection = "data.";

std::pair<std::string, Value> read_setting(const std::string& dataset, const std::string& text) {
  const Place place{.file = "--set " + results::one_line(text)};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw Error(Complaint{.place = place, .found = "no \"=\"", .allowed = "key=value"});
  // As in an experiment, for which the text may have been written.
  std::string key = text.substr(0, equals);
  if (key.starts_with(kSection)) key.erase(0, kSection.size());
  const config::Written written = config::parse_value(text.substr(equals + 1), place);
  if (!written.value)
    throw Error(Complaint{.place = place, .found = fmt::format("{} is {}", key, written.kind)});
  try {
    complete(dataset_fields(dataset), {{key, *written.value}});
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.place = place;
    throw Error(std::move(complaint));
  }
  return {key, *written.value};
}

}  // namespace

Settings DataOptions::settings() const {
  Settings settings;
  for (const std::string& text : overrides) {
    const auto setting = read_setting(name, text);
    // The last one counts.
    std::erase_if(settings, [&](const auto& earlier) { return earlier.first == setting.first; });
    settings.push_back(setting);
  }
  return settings;
}

SearchPath DataOptions::search_path() const {
  if (folder.empty()) return default_search_path();
  if (std::filesystem::is_directory(folder)) return {folder};
  throw Error(Complaint{.place = {.file = "--from " + folder.string()}, .found = "there is no such folder"});
}

CLI::Option* add_dataset_name(CLI::App& command, std::string& name) {
  return command.add_option("NAME", name, "the data set, as experiments name it");
}

void add_data_options(CLI::App& command, DataOptions& options) {
  command.add_option("--set", options.overrides, "key=value, a setting of the data set; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--from", options.folder, "look in this folder alone, not in FEDARENA_DATA and the cache")
      ->type_name("DIR");
}

}  // namespace fedarena
