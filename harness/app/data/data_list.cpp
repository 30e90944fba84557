#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/commands.hpp"
#include "harness/app/data/data_options.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

// Where the data set is, or "" where its files are not there.
std::string place_of(const std::string& name, const SearchPath& search_path) {
  switch (dataset_origin(name)) {
    case DatasetOrigin::kDrawn:
      return "in the program";
    case DatasetOrigin::kOwn:
      return "your own files";
    case DatasetOrigin::kFiles:
      break;
  }
  try {
    return folder_of(name, find_dataset(name, {}, search_path), search_path).string();
  } catch (const Error&) {
    return {};
  }
}

int list_datasets() {
  const SearchPath search_path = default_search_path();
  std::vector<std::vector<std::string>> lines = {{"name", "where", "what"}};
  std::vector<std::string> absent;
  for (const std::string& name : dataset_names()) {
    const std::string place = place_of(name, search_path);
    if (place.empty() && can_be_fetched(name)) absent.push_back(name);
    lines.push_back({name, place.empty() ? "not there" : results::one_line(place), dataset_summary(name)});
  }
  print("{}", results::aligned_lines(lines, {}));
  print("\nLooked in: {}\n", in_words(search_path));
  if (!absent.empty()) print("`fedarena data fetch NAME` brings {}.\n", join_names(absent));
  return kSuccess;
}

}  // namespace

void add_data_list(CLI::App& data, Action& action) {
  CLI::App* command =
      data.add_subcommand("list", "Every data set: whether its files are there, and what it is.");
  command->callback([&action] { action = list_datasets; });
}

void add_data_command(CLI::App& app, Action& action) {
  CLI::App* data = app.add_subcommand("data", "List, explain, verify, fetch and show data sets.");
  data->require_subcommand(1);
  data->footer("`fedarena data COMMAND --help` explains a command.");
  for (const auto add : {add_data_list, add_data_info, add_data_verify, add_data_fetch, add_data_preview})
    add(*data, action);
}

}  // namespace fedarena
