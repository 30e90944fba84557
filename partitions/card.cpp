#include "partitions/card.hpp"

#include <fmt/format.h>

namespace fedarena {

std::string partition_id(const std::string& kind, const Settings& settings, std::uint64_t seed) {
  std::string id = kind + "(";
  for (const auto& [name, value] : complete(partition_fields(kind), settings)) {
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
