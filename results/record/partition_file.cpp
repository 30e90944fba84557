#include "results/record/partition_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kPartitionSchema = 1;
constexpr const char* kHash = "index_hash";
constexpr const char* kSizes = "sizes";
constexpr const char* kEntropy = "label_entropy";
constexpr const char* kCounts = "class_counts";
constexpr const char* kHeldOut = "held_out";
constexpr const char* kNoise = "noise";
constexpr const char* kRotations = "rotations";

bool is_hash(const std::string& text) {
  constexpr std::size_t kDigits = 16;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void check_counts(const RecordedPartition& partition, std::size_t clients, const JsonFields& fields) {
  const auto& counts = partition.class_counts;
  if (!counts.empty() && counts.size() != clients) {
    fields.reject(kCounts, fmt::format("a list for each of {} clients, or no list", clients));
  }
  const bool rectangular = std::ranges::all_of(
      counts, [&](const auto& row) { return !row.empty() && row.size() == counts.front().size(); });
  if (!rectangular) fields.reject(kCounts, "lists of the same classes, at least one");
  if (partition.label_entropy.size() != counts.size()) {
    fields.reject(kEntropy, fmt::format("{} numbers, as many as \"{}\" has lists", counts.size(), kCounts));
  }
}

void check_features(const RecordedPartition& partition, std::size_t clients, const JsonFields& fields) {
  if (!partition.noise.empty() && partition.noise.size() != clients) {
    fields.reject(kNoise, fmt::format("a number for each of {} clients, or none", clients));
  }
  if (partition.rotations.size() != partition.noise.size()) {
    fields.reject(kRotations,
                  fmt::format("{} numbers, as many as \"{}\" has", partition.noise.size(), kNoise));
  }
}

std::string text_of(const RecordedPartition& partition) {
  Json json;
  json["schema"] = kPartitionSchema;
  json["id"] = partition.id;
  json["kind"] = partition.kind;
  json["dataset"] = partition.dataset;
  json["seed"] = partition.seed;
  json[kHash] = partition.index_hash;
  json["clients"] = partition.sizes.size();
  json[kSizes] = partition.sizes;
  json[kEntropy] = partition.label_entropy;
  json[kCounts] = partition.class_counts;
  if (!partition.held_out.empty()) json[kHeldOut] = partition.held_out;
  json[kNoise] = partition.noise;
  json[kRotations] = partition.rotations;
  return json_text(json, -1) + "\n";
}

}  // namespace

bool deals_by_labels(std::string_view kind) {
  constexpr std::array<std::string_view, 3> kByClass = {"classes", "shards", "shared-classes"};
  return kind.starts_with("dirichlet") || std::ranges::find(kByClass, kind) != kByClass.end();
}

std::string to_json_text(const RecordedPartition& partition) {
  // Of a million clients, a tree of JSON takes room; there is one at a time.
  return checked_record(text_of(partition), "a partition",
                        [](const std::string& text) { parse_partition(text, ""); });
}

RecordedPartition parse_partition(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kPartitionSchema);
  RecordedPartition partition;
  partition.id = fields.text("id");
  partition.kind = fields.text("kind");
  partition.dataset = fields.text("dataset");
  partition.seed = fields.integer("seed", 0);
  partition.index_hash = fields.text(kHash);
  if (!is_hash(partition.index_hash)) fields.reject(kHash, "16 hexadecimal digits");
  const std::int64_t clients = fields.integer("clients", 1);
  partition.sizes = fields.integers(kSizes, 0);
  if (std::ssize(partition.sizes) != clients) {
    fields.reject(kSizes, fmt::format("a number for each of {} clients", clients));
  }
  partition.label_entropy = fields.amounts(kEntropy);
  partition.class_counts = fields.lists_of_integers(kCounts, 0);
  if (fields.has(kHeldOut)) {
    partition.held_out = fields.integers(kHeldOut, 0);
    const std::vector<std::int64_t>& held_out = partition.held_out;
    const bool rises = std::ranges::adjacent_find(held_out, std::greater_equal{}) == held_out.end();
    if (held_out.empty() || !rises || held_out.back() >= clients)
      fields.reject(kHeldOut, fmt::format("numbers below {} that rise", clients));
  }
  partition.noise = fields.amounts(kNoise);
  partition.rotations = fields.integers(kRotations);
  check_counts(partition, partition.sizes.size(), fields);
  check_features(partition, partition.sizes.size(), fields);
  fields.finish();
  return partition;
}

std::optional<RecordedPartition> read_partition(const RunDirectory& run) {
  if (!run.has(kPartitionFile)) return std::nullopt;
  return parse_partition(run.read_file(kPartitionFile), (run.path() / kPartitionFile).string());
}

double label_entropy(const std::vector<std::int64_t>& counts) {
  double total = 0;  // of which an edited file may hold any number
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  double entropy = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / total;
    entropy -= share * std::log(share);
  }
  return std::max(entropy, 0.0);  // a single class gives -0
}

}  // namespace fedarena::results
