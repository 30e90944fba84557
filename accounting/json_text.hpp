#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

/// What JSON may hold.
struct JsonLimits {
  /// Lists and objects within each other; the records of fedarena have fewer than ten.
  int depth = 64;
  /// Values and names of fields, some 400 MB in memory, which a few kilobytes of an archive can hold. A
  /// record of 10,000 clients has a tenth of them.
  std::size_t values = 5'000'000;
  /// Of text, of which the parser may hold three times as many.
  std::size_t bytes = std::size_t{256} << 20;
};

namespace detail {

/// Counts what JSON holds and keeps nothing of it: what nlohmann's parser calls.
template <typename Json>
class JsonCounter {
 public:
  explicit JsonCounter(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return count(); }
  bool boolean(bool /*value*/) { return count(); }
  bool number_integer(typename Json::number_integer_t /*value*/) { return count(); }
  bool number_unsigned(typename Json::number_unsigned_t /*value*/) { return count(); }
  bool number_float(typename Json::number_float_t /*value*/, const typename Json::string_t& /*text*/) {
    return count();
  }
  bool string(const typename Json::string_t& /*value*/) { return count(); }
  bool binary(const typename Json::binary_t& /*value*/) { return count(); }
  bool key(const typename Json::string_t& /*name*/) { return count(); }
  bool start_object(std::size_t /*size*/) { return descend(); }
  bool start_array(std::size_t /*size*/) { return descend(); }
  bool end_object() { return ascend(); }
  bool end_array() { return ascend(); }
  // The parser that keeps everything says what is wrong.
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const typename Json::exception& /*why*/) {
    return false;
  }

 private:
  bool count() {
    if (++values_ <= limits_.values) return true;
    throw Error(Complaint{.found = "too many values", .allowed = fmt::format("at most {}", limits_.values)});
  }
  bool descend() {
    if (depth_++ < limits_.depth) return count();
    throw Error(Complaint{.found = "lists and objects lie too deep in each other",
                          .allowed = fmt::format("{} levels", limits_.depth)});
  }
  bool ascend() {
    --depth_;
    return true;
  }

  JsonLimits limits_;
  int depth_ = 0;
  std::size_t values_ = 0;
};

}  // namespace detail

/// Parses JSON that anybody may have written: the only way in which JSON gets into the program. What is
/// nested deeper or larger is an Error before it is in memory; anything else that is not JSON is the
/// library's exception. `Json`: a type of nlohmann's.
template <typename Json>
Json parse_json(std::string_view text, const JsonLimits& limits = {}) {
  if (text.size() > limits.bytes) {
    throw Error(Complaint{.found = fmt::format("{} bytes of JSON", text.size()),
                          .allowed = fmt::format("at most {}", limits.bytes)});
  }
  // The library's parser with a callback would count as well, but looks at all elements of a list after each
  // of them: 1.6 million objects, which 31 kB of an archive hold, took more than two minutes.
  detail::JsonCounter<Json> counter(limits);
  Json::sax_parse(text, &counter);
  return Json::parse(text);
}

}  // namespace fedarena
