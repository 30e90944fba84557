#pragma once

#include <cstddef>
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
};

/// Parses JSON that anybody may have written: the only way in which JSON gets into the program. What is
/// nested deeper or larger is an Error before it is in memory; anything else that is not JSON is the
/// library's exception. `Json`: a type of nlohmann's.
template <typename Json>
Json parse_json(std::string_view text, const JsonLimits& limits = {}) {
  using Event = typename Json::parse_event_t;
  std::size_t values = 0;
  return Json::parse(text, [&](int depth, Event event, const Json& /*value*/) {
    if (depth >= limits.depth && (event == Event::object_start || event == Event::array_start)) {
      throw Error(Complaint{.found = "lists and objects lie too deep in each other",
                            .allowed = fmt::format("{} levels", limits.depth)});
    }
    const bool ends = event == Event::object_end || event == Event::array_end;
    if (!ends && ++values > limits.values) {
      throw Error(Complaint{.found = "too many values", .allowed = fmt::format("at most {}", limits.values)});
    }
    return true;
  });
}

}  // namespace fedarena
