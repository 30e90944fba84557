#include "harness/app/data/found_dataset.hpp"

#include <algorithm>

#include "fedarena/base/nearest.hpp"

#include "results/text/text.hpp"

namespace fedarena {

bool can_be_fetched(const std::string& name) {
  const PublishedFiles& files = dataset_files(name);
  return !files.publication.addresses.empty() &&
         std::none_of(files.files.begin(), files.files.end(),
                      [](const PublishedFile& file) { return file.sha256.empty(); });
}

std::filesystem::path folder_of(const std::string& name, const std::vector<std::filesystem::path>& files,
                                const SearchPath& search_path) {
  if (files.empty()) return {};
  const std::filesystem::path& file = files.front();
  for (const auto& folder : candidate_folders(dataset_files(name).folders, search_path)) {
    const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    if (end == folder.end()) return folder;
  }
  return {};
}

std::string in_words(const SearchPath& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) names.push_back(results::one_line(folder.string()));
  return names.empty() ? "no folder: neither FEDARENA_DATA nor HOME is set" : join_names(names);
}

}  // namespace fedarena
