// FEMNIST as LEAF writes it (Caldas et al., "LEAF: A Benchmark for Federated Settings", 2018): handwritten
// digits and letters with their writers. LEAF builds it on each machine, so there is no digest to compare
// with: any files of its form are taken, also some of the writers.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "datasets/published/leaf_json.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFemnistSide = 28;

struct FemnistConfig {
  bool standardise = true;

  static Schema<FemnistConfig> schema() {
    return {{"standardise", &FemnistConfig::standardise,
             "Whether shades get mean 0 and deviation 1; otherwise ink is 0 and paper 1, as LEAF has them."}};
  }
};

// all_data*.json[.gz] of a folder, by name.
std::vector<fs::path> leaf_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;  // an unreadable folder is one that holds no file
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (name.starts_with("all_data") && name.ends_with(".json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Without names: there may be any number.
PublishedFiles femnist_files() {
  return {.dataset = "femnist",
          .folders = {"femnist"},
          .files = {},
          .origin = "github.com/TalwalkarLab/leaf makes them (data/femnist, preprocess.sh with -t sample)"};
}

// The files of both parts, in the first folder that has any of each.
struct Parts {
  fs::path folder;
  std::vector<fs::path> train, test;
};

Parts find_parts(const SearchPath& search_path) {
  const SearchPath candidates = candidate_folders(femnist_files().folders, search_path);
  for (const fs::path& folder : candidates) {
    Parts parts{folder, leaf_files(folder / "train"), leaf_files(folder / "test")};
    if (!parts.train.empty() && !parts.test.empty()) return parts;
  }
  throw Error(Complaint{
      .found = fmt::format("the data set \"femnist\" was not found: looked for train/all_data*.json and "
                           "test/all_data*.json (each plain or .gz) in {}",
                           searched_folders(candidates)),
      .remedy = fmt::format("Set FEDARENA_DATA to a folder that holds femnist/ with these files; {}",
                            femnist_files().origin)});
}

std::vector<fs::path> find_femnist(const Settings& /*settings*/, const SearchPath& search_path) {
  Parts parts = find_parts(search_path);
  parts.train.insert(parts.train.end(), parts.test.begin(), parts.test.end());
  return parts.train;
}

Examples read_part(const std::vector<fs::path>& files, NameNumbers& writers) {
  const auto images = std::make_shared<UserImages>();
  std::map<std::string, fs::path> seen;
  for (const fs::path& file : files) {
    const std::size_t before = images->users.size();
    append_leaf_json(file, {}, *images);
    for (std::size_t i = before; i < images->users.size(); ++i) {
      const std::string& user = images->users[i].name;
      const auto [first, fresh] = seen.emplace(user, file);
      if (!fresh)
        reject_file(file, fmt::format("the user {} is in {} too", user, first->second.string()),
                    "each user in one file", kLeafRemedy);
    }
  }
  return to_examples(images, kFemnistSide, writers);
}

Dataset load_femnist(const Settings& settings, const SearchPath& search_path) {
  const Parts parts = find_parts(search_path);
  NameNumbers writers;
  Dataset femnist;
  femnist.train = read_part(parts.train, writers);
  femnist.test = read_part(parts.test, writers);
  if (femnist.train.size() == 0 || femnist.test.size() == 0)
    throw Error(
        Complaint{.place = {parts.folder.string()}, .found = "there is no image in train/ or in test/"});
  femnist.users = writers.names();
  femnist.classes = LeafLayout().classes;
  set_shades(femnist, FemnistConfig::schema().read(settings).standardise);
  return femnist;
}

}  // namespace

DatasetSource femnist_source() {
  return {
      .name = "femnist",
      .summary =
          "Handwritten digits and letters with their writers, from the files that LEAF makes: 28 x 28 grey, "
          "62 classes.",
      .fields = FemnistConfig::schema().fields(),
      .files = femnist_files(),
      .load = load_femnist,
      .find = find_femnist};
}

}  // namespace fedarena
