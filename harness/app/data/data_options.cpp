#include "harness/app/data/data_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "harness/config/syntax/document.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

constexpr std::string_view kSection = "data.";

std::pair<std::string, Value> read_setting(const std::string& dataset, const std::string& text) {
  const Place place{.file = "--set " + results::one_line(text)};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw Error::at(place, "no \"=\"", {.allowed = "key=value"});
  // As in an experiment, for which the text may have been written.
  std::string key = text.substr(0, equals);
  if (key.starts_with(kSection)) key.erase(0, kSection.size());
  const config::ParsedValue written = config::parse_value(text.substr(equals + 1), place);
  if (!written.value) throw Error::at(place, fmt::format("{} is {}", key, written.kind));
  try {
    complete(dataset_source(dataset).fields, {{key, *written.value}});
  } catch (const Error& error) {
    throw Error::at(place, error.complaint().found, error.complaint());
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
  throw Error::in("--from " + folder.string(), "there is no such folder");
}

CLI::Option* add_dataset_name(CLI::App& command, std::string& name) {
  return command.add_option("NAME", name, "the data set, as experiments name it");
}

void add_data_options(CLI::App& command, DataOptions& options) {
  command.add_option("--set", options.overrides, "key=value, a setting of the data set; may be repeated")
      ->allow_extra_args(false);
  add_value(command, "--from", "DIR", options.folder,
            "look in this folder alone, not in FEDARENA_DATA and the cache");
}

bool can_be_fetched(const std::string& name) {
  const PublishedFiles& files = dataset_source(name).files;
  return !files.publication.addresses.empty() &&
         std::ranges::none_of(files.files, [](const PublishedFile& file) { return file.sha256.empty(); });
}

std::filesystem::path folder_of(const std::string& name, const std::vector<std::filesystem::path>& files,
                                const SearchPath& search_path) {
  if (files.empty()) return {};
  const std::filesystem::path& file = files.front();
  for (const auto& folder : candidate_folders(dataset_source(name).files.folders, search_path)) {
    const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    if (end == folder.end()) return folder;
  }
  return {};
}

std::string in_words(const SearchPath& folders) {
  const std::vector<std::string> names =
      names_of(folders, [](const auto& folder) { return results::one_line(folder.string()); });
  return names.empty() ? "no folder: neither FEDARENA_DATA nor HOME is set" : join_names(names);
}

}  // namespace fedarena
