#include "fedarena/message.hpp"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

void Message::put_entry(Entry entry) {
  for (Entry& present : entries_) {
    if (present.name == entry.name) {
      present.content = std::move(entry.content);
      return;
    }
  }
  entries_.push_back(std::move(entry));
}

bool Message::contains(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.name == name; });
}

const Message::Content& Message::find(std::string_view name, std::size_t type) const {
  static constexpr std::array kTypes{"Params", "Tensor", "double", "int64"};
  std::vector<std::string> present;
  for (const Entry& entry : entries_) {
    if (entry.name == name && entry.content.index() == type) return entry.content;
    present.push_back(fmt::format("\"{}\" ({})", entry.name, kTypes[entry.content.index()]));
  }
  throw Bug(fmt::format("a message has no \"{}\" of type {}; it has: {}", name, kTypes[type],
                        present.empty() ? "nothing" : fmt::format("{}", fmt::join(present, ", "))));
}

}  // namespace fedarena
