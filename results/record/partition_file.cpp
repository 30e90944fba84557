#include "results/record/partition_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/record_form.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kPartitionSchema = 1;

bool is_hash(const std::string& text) {
  constexpr std::size_t kDigits = 16;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void check_partition(const RecordedPartition& partition, std::int64_t clients, const JsonFields& fields) {
  if (!is_hash(partition.index_hash)) fields.reject("index_hash", "16 hexadecimal digits");
  const auto count = static_cast<std::size_t>(clients);
  if (partition.sizes.size() != count)
    fields.reject("sizes", fmt::format("a number for each of {} clients", clients));
  const std::vector<std::int64_t>& held_out = partition.held_out;
  const bool rises = std::ranges::adjacent_find(held_out, std::greater_equal{}) == held_out.end();
  if (fields.has("held_out") && (held_out.empty() || !rises || held_out.back() >= clients))
    fields.reject("held_out", fmt::format("numbers below {} that rise", clients));
  const auto& counts = partition.class_counts;
  if (!counts.empty() && counts.size() != count)
    fields.reject("class_counts", fmt::format("a list for each of {} clients, or no list", clients));
  const bool rectangular = std::ranges::all_of(
      counts, [&](const auto& row) { return !row.empty() && row.size() == counts.front().size(); });
  if (!rectangular) fields.reject("class_counts", "lists of the same classes, at least one");
  if (partition.label_entropy.size() != counts.size())
    fields.reject("label_entropy",
                  fmt::format("{} numbers, as many as \"class_counts\" has lists", counts.size()));
  if (!partition.noise.empty() && partition.noise.size() != count)
    fields.reject("noise", fmt::format("a number for each of {} clients, or none", clients));
  if (partition.rotations.size() != partition.noise.size())
    fields.reject("rotations", fmt::format("{} numbers, as many as \"noise\" has", partition.noise.size()));
}

void form_partition(RecordForm& form, RecordedPartition& partition) {
  std::int64_t clients = std::ssize(partition.sizes);
  form.text("id", partition.id);
  form.text("kind", partition.kind);
  form.text("dataset", partition.dataset);
  form.integer("seed", partition.seed, 0);
  form.text("index_hash", partition.index_hash);
  form.integer("clients", clients, 1);
  form.field("sizes", partition.sizes, &JsonFields::integers, 0);
  form.field("label_entropy", partition.label_entropy, &JsonFields::amounts);
  form.field("class_counts", partition.class_counts, &JsonFields::lists_of_integers, 0);
  if (form.has("held_out", partition.held_out))
    form.field("held_out", partition.held_out, &JsonFields::integers, 0);
  form.field("noise", partition.noise, &JsonFields::amounts);
  form.field("rotations", partition.rotations, &JsonFields::integers,
             std::numeric_limits<std::int64_t>::min());
  if (form.fields() != nullptr) check_partition(partition, clients, *form.fields());
}

std::string text_of(const RecordedPartition& partition) {
  return json_text(json_of_record(partition, form_partition, kPartitionSchema), -1) + "\n";
}

}  // namespace

bool deals_by_labels(std::string_view kind) {
  constexpr std::array<std::string_view, 3> kByClass = {"classes", "shards", "shared-classes"};
  return kind.starts_with("dirichlet") || std::ranges::find(kByClass, kind) != kByClass.end();
}

std::string public_deal(std::string_view policy, std::string_view dataset, std::string_view kind) {
  const bool of_examples = policy == "record" || policy == "label";
  if (of_examples && deals_by_labels(kind)) return "who holds which examples (dealt by their labels)";
  // Another picture has another digest, and a place of its own among the others.
  if (policy == "record" && dataset == "image-folder")
    return "who holds which examples (dealt in the order of their digests)";
  return "";
}

std::string to_json_text(const RecordedPartition& partition) {
  // Of a million clients, a tree of JSON takes room; there is one at a time.
  return checked_record(text_of(partition), "a partition", parse_partition);
}

RecordedPartition parse_partition(std::string_view text, const std::string& file) {
  return parse_record(text, file, kPartitionSchema, form_partition);
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
