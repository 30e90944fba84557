#include "datasets/own/own_path.hpp"

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

std::filesystem::path find_own(const std::string& key, const std::string& path,
                               const SearchPath& search_path) {
  SearchPath candidates{path};
  if (candidates.front().is_relative()) {
    for (const std::filesystem::path& folder : search_path) candidates.push_back(folder / path);
  }
  std::error_code ignored;  // what cannot be seen is not there
  for (const std::filesystem::path& candidate : candidates) {
    if (!path.empty() && std::filesystem::exists(candidate, ignored)) return candidate;
  }
  std::string searched;
  for (const std::filesystem::path& candidate : candidates) {
    searched += fmt::format("{}{}", searched.empty() ? "" : ", ",
                            std::filesystem::absolute(candidate).lexically_normal().string());
  }
  throw Error(Complaint{.found = fmt::format("{} = \"{}\" is not there: looked for {}", key, path, searched),
                        .remedy = "Give an absolute path, one below the working directory, or one below a "
                                  "folder of FEDARENA_DATA"});
}

}  // namespace fedarena
