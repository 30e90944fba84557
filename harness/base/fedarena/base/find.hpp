#pragma once

#include <algorithm>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fedarena {

/// The first of the items that has that name (what `name_of` projects to), or nullptr.
template <typename Items, typename Name, typename NameOf>
auto find_named(Items& items, const Name& name, NameOf name_of) -> decltype(&*std::ranges::begin(items)) {
  const auto found = std::ranges::find(items, name, name_of);
  return found == std::ranges::end(items) ? nullptr : &*found;
}

/// Whether the item is among them.
template <typename Items, typename Item>
bool contains(const Items& items, const Item& item) {
  return std::ranges::find(items, item) != std::ranges::end(items);
}

/// The names of the items (what `name_of` projects to), in their order.
template <typename Items, typename NameOf>
std::vector<std::string> names_of(const Items& items, NameOf name_of) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(std::invoke(name_of, item));
  return names;
}

/// The texts of the items (what `text_of` makes of each) in their order, with `between` between them.
template <typename Items, typename TextOf>
std::string joined(const Items& items, std::string_view between, TextOf text_of) {
  std::string all;
  for (bool first = true; const auto& item : items) {
    if (!std::exchange(first, false)) all += between;
    all += std::invoke(text_of, item);
  }
  return all;
}

}  // namespace fedarena
