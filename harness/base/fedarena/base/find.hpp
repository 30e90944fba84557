#pragma once

#include <algorithm>
#include <ranges>

namespace fedarena {

/// The first of the items that has that name (what `name_of` projects to), or nullptr.
template <typename Items, typename Name, typename NameOf>
auto find_named(Items& items, const Name& name, NameOf name_of) -> decltype(&*std::ranges::begin(items)) {
  const auto found = std::ranges::find(items, name, name_of);
  return found == std::ranges::end(items) ? nullptr : &*found;
}

}  // namespace fedarena
