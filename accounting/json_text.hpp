#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena {

/// What JSON may hold.
struct JsonLimits {
  /// Lists and objects within each other; the records of fedarena have fewer than ten.
  std::size_t depth = 64;
  /// Values and names of fields, some 400 MB in memory, which a few kilobytes of an archive can hold. A
  /// record of 10,000 clients has a tenth of them.
  std::size_t values = 5'000'000;
  /// Those of elements that are taken one by one, and of which less is kept.
  std::size_t taken = 50'000'000;
  /// Of text.
  std::size_t bytes = std::size_t{256} << 20;
  /// Names that are compared with the others of their object, which the library's ordered objects do one by
  /// one: 44,000 names in a single object.
  std::size_t comparisons = 1'000'000'000;
};

/// Is given each list or object in a list that is a field of the document, as soon as it is read. True: it is
/// left out of the document, and its memory is free for the next one.
template <typename Json>
using TakeElement = std::function<bool(const std::string& field, const Json& element)>;

namespace detail {

/// What nlohmann's parser calls: counts what JSON holds while it puts it together. The library's own parser
/// with a callback looks at all elements of a list after each of them: 1.6 million objects, which 31 kB of an
/// archive hold, took it more than two minutes.
template <typename Json>
class JsonReader {
 public:
  JsonReader(const JsonLimits& limits, const TakeElement<Json>& take) : limits_(limits), take_(take) {}
  Json document() { return std::move(root_); }

  bool null() { return leaf(nullptr); }
  bool boolean(bool value) { return leaf(value); }
  bool number_integer(typename Json::number_integer_t value) { return leaf(value); }
  bool number_unsigned(typename Json::number_unsigned_t value) { return leaf(value); }
  bool number_float(typename Json::number_float_t value, const typename Json::string_t& /*text*/) {
    return leaf(value);
  }
  bool string(typename Json::string_t& value) { return leaf(std::move(value)); }
  bool binary(typename Json::binary_t& value) { return leaf(std::move(value)); }
  bool key(const typename Json::string_t& name) {
    count();
    comparisons_ += open_.back()->size();
    if (comparisons_ > limits_.comparisons) {
      throw Error(Complaint{.found = fmt::format("an object with {} names", open_.back()->size()),
                            .allowed = "some 40,000"});
    }
    if (open_.back()->contains(name))
      throw Error(
          Complaint{.found = fmt::format("field {} stands twice in one object", fedarena::quoted(name))});
    key_ = name;
    if (open_.size() == 1) field_ = name;
    return true;
  }
  bool start_object(std::size_t /*size*/) { return start(Json::object()); }
  bool start_array(std::size_t /*size*/) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  template <typename Why>
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const Why& why) {
    throw Why(why);
  }

 private:
  static constexpr std::size_t kElement = 2;  // so many are open around an element of a list of the document

  void count() {
    if (++values_ > limits_.values)
      throw Error(
          Complaint{.found = "too many values", .allowed = fmt::format("at most {}", limits_.values)});
  }
  Json& put(Json value) {
    count();
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    return parent[key_] = std::move(value);
  }
  bool leaf(Json value) {
    put(std::move(value));
    return true;
  }
  bool start(Json empty) {
    if (open_.size() >= limits_.depth) {
      throw Error(Complaint{.found = "lists and objects lie too deep in each other",
                            .allowed = fmt::format("{} levels", limits_.depth)});
    }
    if (open_.size() == kElement) before_element_ = values_;
    Json& own = put(std::move(empty));
    open_.push_back(&own);
    return true;
  }
  bool end() {
    open_.pop_back();
    if (open_.size() == kElement && open_.back()->is_array() && take_ && take_(field_, open_.back()->back()))
      leave_out_last();
    return true;
  }
  void leave_out_last() {
    open_.back()->erase(open_.back()->size() - 1);
    taken_ += values_ - before_element_;
    values_ = before_element_;
    if (taken_ > limits_.taken) {
      throw Error(Complaint{.found = "too many values",
                            .allowed = fmt::format("at most {} in elements", limits_.taken)});
    }
  }

  const JsonLimits& limits_;
  const TakeElement<Json>& take_;
  Json root_;
  std::vector<Json*> open_;  // from the document to the list or object that is being read
  std::string key_, field_;  // the last name, and that of the document's field
  std::size_t values_ = 0, before_element_ = 0, taken_ = 0, comparisons_ = 0;
};

}  // namespace detail

/// Parses JSON that anybody may have written: the only way in which JSON gets into the program. What is
/// nested deeper or larger is an Error before it is in memory; anything else that is not JSON is the
/// library's exception. `Json`: a type of nlohmann's.
template <typename Json>
Json parse_json(std::string_view text, const JsonLimits& limits = {}, const TakeElement<Json>& take = {}) {
  if (text.size() > limits.bytes) {
    throw Error(Complaint{.found = fmt::format("{} bytes of JSON", text.size()),
                          .allowed = fmt::format("at most {}", limits.bytes)});
  }
  detail::JsonReader<Json> reader(limits, take);
  Json::sax_parse(text, &reader);
  return reader.document();
}

}  // namespace fedarena
