#include "results/images/synthetic_folder.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "results/record/durable_file.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "round-";
constexpr std::string_view kUnfinished = ".partial";  // being written or being dropped
constexpr const char* kImages = "images.npy";
constexpr const char* kLabels = "labels.npy";

std::string name_of(std::int64_t round) { return fmt::format("{}{:04}", kPrefix, round); }

fs::path unfinished(fs::path folder) { return folder += kUnfinished; }

// 0 for a folder of another name.
std::int64_t round_of(const std::string& name) {
  std::int64_t round = 0;
  if (!name.starts_with(kPrefix)) return 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), round);
  return name == name_of(round) ? round : 0;
}

bool in_series(std::int64_t round) {
  while (round % 10 == 0) round /= 10;
  return round == 1 || round == 2 || round == 5;
}

void remove_folder(const fs::path& folder) {
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (failure) fail_on_file(folder, "cannot be removed", failure.value());
}

// Names of what is in the folder; none when it is not there.
std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  if (!fs::exists(folder, failure)) return names;
  for (fs::directory_iterator at(folder, failure); !failure && at != fs::directory_iterator();
       at.increment(failure)) {
    names.push_back(at->path().filename().string());
  }
  if (failure) fail_on_file(folder, "cannot be listed", failure.value());
  return names;
}

}  // namespace

fs::path SyntheticFolder::folder_of(std::int64_t round) const { return path_ / name_of(round); }

std::vector<std::int64_t> SyntheticFolder::rounds() const {
  std::vector<std::int64_t> rounds;
  for (const std::string& name : entries(path_)) {
    if (const std::int64_t round = round_of(name); round > 0) rounds.push_back(round);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds;
}

SyntheticSet SyntheticFolder::read(std::int64_t round) const {
  const fs::path folder = folder_of(round);
  return {read_npy(folder / kImages), read_npy(folder / kLabels)};
}

void SyntheticFolder::write(std::int64_t round, const SyntheticSet& set) const {
  remove_unfinished();
  const fs::path folder = folder_of(round);
  const fs::path partial = unfinished(folder);
  std::error_code failure;
  fs::create_directories(partial, failure);
  if (failure) fail_on_file(folder, "cannot be created", failure.value());
  try {
    replace_file(partial / kImages, to_npy(set.images));
    replace_file(partial / kLabels, to_npy(set.labels));
    remove_folder(folder);
    rename_durably(partial, folder);
  } catch (...) {
    // Whatever it was, a full disk gets its room back; the next write sweeps up what cannot be removed now.
    fs::remove_all(partial, failure);
    throw;
  }
}

void SyntheticFolder::drop_after(std::int64_t last_round_to_keep) const {
  remove_unfinished();
  for (const std::int64_t round : rounds()) {
    if (round > last_round_to_keep) drop(round);
  }
}

void SyntheticFolder::thin() const {
  const std::vector<std::int64_t> all = rounds();
  for (const std::int64_t round : all) {
    if (round != all.back() && !in_series(round)) drop(round);
  }
}

// Under another name first: what a crash leaves of it is no round.
void SyntheticFolder::drop(std::int64_t round) const {
  const fs::path folder = folder_of(round);
  rename_durably(folder, unfinished(folder));
  remove_folder(unfinished(folder));
}

void SyntheticFolder::remove_unfinished() const {
  for (const std::string& name : entries(path_)) {
    if (name.ends_with(kUnfinished)) remove_folder(path_ / name);
  }
}

}  // namespace fedarena::results
