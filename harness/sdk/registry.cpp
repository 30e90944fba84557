#include <utility>

#include "fedarena/plugin.hpp"

namespace fedarena {

void Registry::add(AlgorithmInfo info) {
  if (const AlgorithmInfo* taken = find(info.name)) {
    throw Error::of("the algorithm name \"{}\" is already taken by {}", info.name,
                    taken->library.empty() ? "the same plugin" : taken->library);
  }
  algorithms_.push_back(std::move(info));
}

const AlgorithmInfo* Registry::find(std::string_view name) const {
  for (const AlgorithmInfo& info : algorithms_) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace fedarena
