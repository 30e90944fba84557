#include "results/images/synthetic_folder.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

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
  if (!name.starts_with(kPrefix)) return 0;
  const auto round = parse_number<std::int64_t>(name.substr(kPrefix.size())).value_or(0);
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

[[noreturn]] void refuse(const std::string& folder, std::string found, std::string allowed) {
  throw Error::in(folder, std::move(found), {.allowed = std::move(allowed)});
}

}  // namespace

fs::path SyntheticFolder::folder_of(std::int64_t round) const { return path_ / name_of(round); }

std::vector<std::int64_t> SyntheticFolder::rounds() const {
  std::vector<std::int64_t> rounds;
  for (const std::string& name : entries(path_)) {
    if (const std::int64_t round = round_of(name); round > 0) rounds.push_back(round);
  }
  std::ranges::sort(rounds);
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

// Under another name first: what a crash leaves of it is not a round.
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

std::span<const float> LabelledImages::image(std::size_t index) const {
  const auto size = static_cast<std::size_t>(channels * height * width);
  return std::span(pixels).subspan(index * size, size);
}

std::vector<std::int64_t> LabelledImages::classes() const {
  const std::set<std::int64_t> distinct(labels.begin(), labels.end());
  return {distinct.begin(), distinct.end()};
}

LabelledImages as_images(SyntheticSet set, const std::string& folder) {
  const std::vector<std::int64_t>& shape = set.images.shape;
  auto* pixels = std::get_if<std::vector<float>>(&set.images.values);
  if (pixels == nullptr || shape.size() != 4 || (shape[1] != 1 && shape[1] != 3) || pixels->empty()) {
    refuse(folder,
           fmt::format("the synthetic inputs are {} of the shape [{}], which no picture can show",
                       type_of(set.images), fmt::join(shape, ", ")),
           "images: float32 [n, 1 or 3, height, width], at least one");
  }
  auto* labels = std::get_if<std::vector<std::int64_t>>(&set.labels.values);
  if (labels == nullptr || set.labels.shape != std::vector{shape[0]}) {
    refuse(folder,
           fmt::format("the labels are {} of the shape [{}]", type_of(set.labels),
                       fmt::join(set.labels.shape, ", ")),
           fmt::format("a class for each image: int64 [{}]", shape[0]));
  }
  return {.channels = shape[1],
          .height = shape[2],
          .width = shape[3],
          .pixels = std::move(*pixels),
          .labels = std::move(*labels)};
}

}  // namespace fedarena::results
