#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fedarena {

/// Gives names numbers from 0, in the order in which they are met.
class NameNumbers {
 public:
  std::int64_t number(const std::string& name) {
    const auto [entry, fresh] = numbers_.emplace(name, static_cast<std::int64_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return entry->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace fedarena
