#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/bundle/bundle.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/record.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// A program's digest tells builds of one commit apart.
constexpr std::array<const char*, 10> kFields = {"fedarena",   "commit",  "program_sha256", "compiler",
                                                 "libtorch",   "sdk_abi", "blas",           "processor",
                                                 "arithmetic", "device"};

// Of a run on a GPU alone.
constexpr std::array<const char*, 5> kGpuFields = {"gpu", "cuda", "cudnn", "tf32", "deterministic"};

// Enough of a digest for an eye.
constexpr std::size_t kShownDigits = 12;

std::string shown(const Json& value, std::string_view field) {
  if (value.is_null()) return "not recorded";
  const std::string text = one_line(value.is_string() ? value.get<std::string>() : json_text(value, -1));
  return field.ends_with("sha256") ? text.substr(0, kShownDigits) : text;
}

void compare(const Json& recorded, const Json& replayed, const char* field, const std::string& name,
             std::vector<std::string>& differences) {
  const Json left = recorded.value(field, Json()), right = replayed.value(field, Json());
  if (!left.is_null() && left == right) return;
  differences.push_back(fmt::format("{} {}, now {}", name, shown(left, field), shown(right, field)));
}

namespace fs = std::filesystem;

constexpr const char* kMissing = "missing";

// What tells how fast a machine is, and what a run was a part of: nothing about its result.
constexpr std::array<std::string_view, 5> kNoResult = {"seconds", "train_seconds", "evaluation_seconds",
                                                       "sweep", "tuning"};

std::string value_text(const Json& object, const std::string& field) {
  return object.contains(field) ? json_text(object.at(field), -1) : kMissing;
}

// JSON writes a double with as many digits as tell it from all others, so equal texts are equal bits.
void compare(const Json& recorded, const Json& replayed, const RecordDifference& place,
             std::vector<RecordDifference>& differences) {
  Json fields = recorded;
  fields.update(replayed);
  for (const auto& [field, unused] : fields.items()) {
    if (contains(kNoResult, field)) continue;
    RecordDifference difference = place;
    difference.field = field;
    difference.recorded = value_text(recorded, field);
    difference.replayed = value_text(replayed, field);
    if (difference.recorded != difference.replayed) differences.push_back(difference);
  }
}

void compare_rounds(const fs::path& recorded, const fs::path& replayed,
                    std::vector<RecordDifference>& differences) {
  const std::vector<RoundRecord> left = RunDirectory::open(recorded).rounds();
  const std::vector<RoundRecord> right = RunDirectory::open(replayed).rounds();
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    compare(to_json(left[i]), to_json(right[i]), {.file = kRoundsFile, .round = left[i].round}, differences);
  }
  if (left.size() == right.size()) return;
  differences.push_back({.file = kRoundsFile,
                         .field = "number of rounds",
                         .recorded = std::to_string(left.size()),
                         .replayed = std::to_string(right.size())});
}

std::string content_of(const fs::path& file) {
  return fs::is_regular_file(file) ? read_whole_file(file) : std::string(kMissing);
}

// What of two texts a person wants to see.
std::string size_of(const std::string& content) {
  return content == kMissing ? content : fmt::format("{} bytes", content.size());
}

}  // namespace

std::vector<std::string> build_differences(const std::filesystem::path& recorded,
                                           const std::filesystem::path& replayed) {
  const Json left = read_environment(recorded);
  const Json right = read_environment(replayed);
  std::vector<std::string> differences;
  for (const char* field : kFields) compare(left, right, field, field, differences);
  for (const char* field : kGpuFields) {
    if (left.contains(field) || right.contains(field)) compare(left, right, field, field, differences);
  }
  const std::string algorithm = RunDirectory::open(recorded).summary().algorithm;
  for (const char* field : {"version", "sha256"}) {
    compare(plugin_of(left, algorithm), plugin_of(right, algorithm), field,
            fmt::format("{} of the plugin of {}", field, algorithm), differences);
  }
  if (const Json further = left.value("builds", Json()); !further.empty())
    differences.push_back(fmt::format("builds that took part {}, now 1", 1 + further.size()));
  return differences;
}

std::vector<RecordDifference> record_differences(const fs::path& recorded, const fs::path& replayed) {
  std::vector<RecordDifference> differences;
  compare_rounds(recorded, replayed, differences);
  std::set<std::string> files;
  for (const fs::path& run : {recorded, replayed}) {
    for (const std::string& file : record_files(run)) files.insert(file);
  }
  for (const std::string& file : files) {
    if (file == kRoundsFile || file == kExperimentFile || file == kEnvironmentFile) continue;
    const std::string left = content_of(recorded / file);
    const std::string right = content_of(replayed / file);
    if (file == kSummaryFile) {
      compare(to_json(parse_summary(left, (recorded / file).string())),
              to_json(parse_summary(right, (replayed / file).string())), {.file = file}, differences);
    } else if (left != right) {
      differences.push_back({.file = file, .recorded = size_of(left), .replayed = size_of(right)});
    }
  }
  return differences;
}

std::string describe(const RecordDifference& difference) {
  std::string text = difference.file + ": ";
  if (difference.round > 0) text += fmt::format("round {}: ", difference.round);
  if (difference.field.empty()) {
    return text + fmt::format("the content differs ({}, came out with {})", difference.recorded,
                              difference.replayed);
  }
  return text +
         fmt::format("{} was {}, came out as {}", difference.field, difference.recorded, difference.replayed);
}

}  // namespace fedarena::results
