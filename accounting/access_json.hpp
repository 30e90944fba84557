#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/nearest.hpp"

namespace fedarena {

/// A field in a message; lists and objects may be of any size and depth.
std::string shown(const nlohmann::json& field);

/// Whether it is written as an integer, from `lowest` to `highest`, which is not negative.
bool is_integer(const nlohmann::json& value, std::int64_t lowest, std::int64_t highest = kMostAccesses);

/// Reads the fields of one object, which must live as long. Throws Error that names the field where one is
/// missing, or of another type or range than is asked for.
class AccessFields {
 public:
  /// `what` the object is, in messages: "a segment".
  AccessFields(const nlohmann::json& object, std::string what);

  bool has(const std::string& key) const { return object_.contains(key); }
  const nlohmann::json& at(const std::string& key);
  std::string text(const std::string& key);
  const nlohmann::json& list(const std::string& key);
  double number(const std::string& key);
  std::int64_t integer(const std::string& key, std::int64_t lowest, std::int64_t highest = kMostAccesses);
  /// One of the values of an enum, which has these names in its order.
  template <typename Enum>
  Enum choice(const std::string& key, const auto& names) {
    const std::string given = text(key);
    const auto found = std::find(names.begin(), names.end(), given);
    if (found == names.end()) throw unknown_name(fmt::format("\"{}\" is \"{}\"", key, given), given, names);
    return static_cast<Enum>(found - names.begin());
  }
  /// Throws Error for a field that nobody asked for.
  void finish() const;

 private:
  const nlohmann::json& object_;
  std::string what_;
  std::vector<std::string> known_;
};

/// Accesses as a list of objects.
nlohmann::json list_of(const std::vector<Access>& accesses);

/// The accesses of such a list. Throws Error for anything that no event is, or that an event's documentation
/// does not allow.
std::vector<Access> accesses_from(const nlohmann::json& list);

}  // namespace fedarena
