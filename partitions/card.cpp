#include "partitions/card.hpp"

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/fnv.hpp"

namespace fedarena {
namespace {

void add_bytes(Fnv1a& hash, std::uint64_t word) {
  for (int byte = 0; byte < 8; ++byte) hash.add((word >> (8 * byte)) & 0xff);
}

double entropy(const std::vector<std::int64_t>& counts, std::int64_t total) {
  double sum = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(total);
    sum -= share * std::log(share);
  }
  return std::max(sum, 0.0);  // a single class gives -0
}

std::string with_commas(std::int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// "2", or "1-3" where clients differ.
std::string range_text(const std::vector<std::int64_t>& values) {
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  if (*lowest == *highest) return with_commas(*lowest);
  return with_commas(*lowest) + "-" + with_commas(*highest);
}

}  // namespace

std::string index_hash(const Partition& partition) {
  Fnv1a hash;
  add_bytes(hash, partition.size());
  for (const std::vector<std::int64_t>& share : partition) {
    add_bytes(hash, share.size());
    for (const std::int64_t index : share) add_bytes(hash, static_cast<std::uint64_t>(index));
  }
  return fmt::format("{:016x}", hash.value());
}

PartitionStatistics partition_statistics(const Partition& partition, const PartitionInput& input) {
  PartitionStatistics statistics;
  statistics.index_hash = index_hash(partition);
  const bool counted = !input.labels.empty() && std::ssize(partition) * input.classes <= kMostClassCounts;
  for (const std::vector<std::int64_t>& share : partition) {
    statistics.sizes.push_back(std::ssize(share));
    if (!counted) continue;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(input.classes));
    for (const std::int64_t index : share) {
      FEDARENA_CHECK(index, >=, 0);
      FEDARENA_CHECK(index, <, std::ssize(input.labels));
      ++counts.at(static_cast<std::size_t>(input.labels[static_cast<std::size_t>(index)]));
    }
    statistics.label_entropy.push_back(entropy(counts, statistics.sizes.back()));
    statistics.class_counts.push_back(std::move(counts));
  }
  return statistics;
}

std::string describe(const std::string& kind, const PartitionStatistics& statistics) {
  const std::size_t clients = statistics.sizes.size();
  FEDARENA_CHECK(clients, >=, 1U);
  std::string text = fmt::format("{}: {} client{}", kind, with_commas(static_cast<std::int64_t>(clients)),
                                 clients == 1 ? "" : "s");
  if (!statistics.class_counts.empty()) {
    std::vector<std::int64_t> held;
    for (const std::vector<std::int64_t>& counts : statistics.class_counts) {
      held.push_back(std::ssize(counts) - std::count(counts.begin(), counts.end(), 0));
    }
    const std::string classes = range_text(held);
    text += fmt::format(", {} class{} each", classes, classes == "1" ? "" : "es");
  }
  const std::string sizes = range_text(statistics.sizes);
  text += sizes.find('-') == std::string::npos ? fmt::format(", size {} each", sizes) : ", sizes " + sizes;
  if (!statistics.label_entropy.empty()) {
    const auto [lowest, highest] =
        std::minmax_element(statistics.label_entropy.begin(), statistics.label_entropy.end());
    const std::string low = fmt::format("{:.2f}", *lowest), high = fmt::format("{:.2f}", *highest);
    text += fmt::format(", label entropy {} nats", low == high ? low : low + "-" + high);
  }
  return text + ", index hash " + statistics.index_hash;
}

Settings without_off(Settings settings) {
  const std::vector<std::int64_t> none;
  const Settings off = {{"clients", std::int64_t{0}}, {"train_fraction", 1.0}, {"noise", 0.0},
                        {"rotations", none},          {"class_order", none},   {"equal_sizes", false}};
  std::erase_if(settings, [&](const auto& setting) { return contains(off, setting); });
  return settings;
}

std::string partition_id(const std::string& kind, const Settings& settings, std::uint64_t seed) {
  std::string id = kind + "(";
  for (const auto& [name, value] : without_off(complete(partition_fields(kind), settings))) {
    std::string text = to_text(value);
    std::erase(text, ' ');
    id += fmt::format("{}={},", name, text);
  }
  return id + fmt::format("seed={})", seed);
}

PartitionCard partition_card(const std::string& kind, const Settings& settings, std::uint64_t seed,
                             const Partition& partition, const PartitionInput& input) {
  return {.id = partition_id(kind, settings, seed),
          .kind = kind,
          .statistics = partition_statistics(partition, input),
          .note = partition_note(kind, settings, input, seed)};
}

PartitionCard without_labels(PartitionCard card) {
  card.statistics.class_counts.clear();
  card.statistics.label_entropy.clear();
  return card;
}

std::string describe(const PartitionCard& card) {
  return fmt::format("{}, id {}{}{}", describe(card.kind, card.statistics), card.id,
                     card.note.empty() ? "" : "; ", card.note);
}

}  // namespace fedarena
