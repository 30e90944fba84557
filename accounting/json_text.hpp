#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "fedarena/base/error.hpp"

namespace fedarena {

/// What JSON may hold.
struct JsonLimits {
  /// Lists and objects within each other; the records of fedarena have fewer than ten.
  int depth = 64;
  /// Values and names of fields, some 400 MB in memory, which a few kilobytes of an archive can hold. A
  /// record of 10,000 clients has a tenth of them.
  std::size_t values = 5'000'000;
  /// Those of elements that are taken one by one, and of which less is kept.
  std::size_t taken = 50'000'000;
};

/// Is given each list or object in a list that is a field of the document, as soon as it is read. True: it is
/// left out of the document, and its memory is free for the next one.
template <typename Json>
using TakeElement = std::function<bool(const std::string& field, const Json& element)>;

/// Parses JSON that anybody may have written: the only way in which JSON gets into the program. What is
/// nested deeper or larger is an Error before it is in memory; anything else that is not JSON is the
/// library's exception. `Json`: a type of nlohmann's.
template <typename Json>
Json parse_json(std::string_view text, const JsonLimits& limits = {}, const TakeElement<Json>& take = {}) {
  using Event = typename Json::parse_event_t;
  std::size_t values = 0, before_element = 0, taken = 0;
  std::string field;
  return Json::parse(text, [&](int depth, Event event, const Json& value) {
    const bool starts = event == Event::object_start || event == Event::array_start;
    if (depth >= limits.depth && starts) {
      throw Error(Complaint{.found = "lists and objects lie too deep in each other",
                            .allowed = fmt::format("{} levels", limits.depth)});
    }
    constexpr int kElement = 2;  // of a list of the document
    if (depth == 1 && event == Event::key) field = value.template get<std::string>();
    if (depth == kElement && starts) before_element = values;
    const bool ends = event == Event::object_end || event == Event::array_end;
    if (!ends && ++values > limits.values) {
      throw Error(Complaint{.found = "too many values", .allowed = fmt::format("at most {}", limits.values)});
    }
    if (depth != kElement || !ends || !take || !take(field, value)) return true;
    taken += values - before_element;
    if (taken > limits.taken) {
      throw Error(Complaint{.found = "too many values",
                            .allowed = fmt::format("at most {} in elements", limits.taken)});
    }
    values = before_element;
    return false;
  });
}

}  // namespace fedarena
