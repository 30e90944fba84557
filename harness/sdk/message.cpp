#include "fedarena/message.hpp"

#include <array>

#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

namespace fedarena {

void Message::put_entry(Entry entry) {
  if (Entry* present = find_named(entries_, entry.name, &Entry::name))
    present->content = std::move(entry.content);
  else
    entries_.push_back(std::move(entry));
}

bool Message::contains(std::string_view name) const {
  return find_named(entries_, name, &Entry::name) != nullptr;
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
