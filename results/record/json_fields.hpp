#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "fedarena/base/error.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena::results {

/// JSON whose members keep the order in which they were written, so that files read like their struct.
using Json = nlohmann::ordered_json;

/// Any double as JSON, which has no word for nan and infinity: they become the texts "nan", "inf" and "-inf".
Json json_number(double value);
/// null where there is none.
Json json_number(std::optional<double> value);

/// JSON text; bytes that are not UTF-8 are replaced, because a record must be written whatever a name holds.
std::string json_text(const Json& json, int indent);

/// Such text with a line for each field and each element of a list, without its end "\n}\n".
std::string json_lines(const Json& object);

/// What to do about a file of a run that is not as it was written.
inline constexpr const char* kBrokenRecord =
    "the file is damaged or was edited; restore it, or remove the run directory and run this cell again";

/// A strict reader of one JSON object. Every failure is an Error that names the place and the field.
class JsonFields {
 public:
  /// Parses `text`, which must be one object. `place.line` is where the text begins, or 0 for the whole file.
  JsonFields(std::string_view text, Place place);

  /// Reads the field "schema" and refuses any but `known`. To be called first: another build may lay out
  /// everything else differently.
  void schema(std::int64_t known);
  /// A whole number, not smaller than `least`.
  std::int64_t integer(const std::string& name,
                       std::int64_t least = std::numeric_limits<std::int64_t>::min());
  /// Any double, also "nan", "inf" and "-inf".
  double number(const std::string& name);
  /// A finite number, not negative.
  double amount(const std::string& name);
  /// An amount, or a list of at least one.
  PerClient per_client(const std::string& name);
  /// A fraction in [0, 1].
  double fraction(const std::string& name);
  /// A list of fractions, each of which may be null.
  std::vector<std::optional<double>> fractions(const std::string& name);
  /// A list of finite numbers, not negative.
  std::vector<double> amounts(const std::string& name);
  /// A list of any doubles, also "nan", "inf" and "-inf".
  std::vector<double> any_numbers(const std::string& name);
  std::vector<bool> booleans(const std::string& name);
  /// A list of whole numbers, none of them smaller than `least`.
  std::vector<std::int64_t> integers(const std::string& name,
                                     std::int64_t least = std::numeric_limits<std::int64_t>::min());
  /// A list of such lists.
  std::vector<std::vector<std::int64_t>> lists_of_integers(const std::string& name, std::int64_t least);
  /// An object, to be read and finished by itself; messages name its fields "name.field".
  JsonFields object(const std::string& name);
  /// A list of objects, each to be read and finished by itself.
  std::vector<JsonFields> objects(const std::string& name);
  std::string text(const std::string& name);
  /// A SHA-256: 64 lower-case hexadecimal digits.
  std::string digest(const std::string& name);
  bool boolean(const std::string& name);
  /// One of `allowed`.
  std::string choice(const std::string& name, const std::vector<std::string>& allowed);
  std::vector<std::string> list_of_texts(const std::string& name);
  /// An object whose values are texts, in the order of the file.
  std::vector<std::pair<std::string, std::string>> texts(const std::string& name);
  /// An object whose values are any doubles, in the order of the file.
  std::vector<std::pair<std::string, double>> numbers(const std::string& name);
  /// Whether the field is null.
  bool is_null(const std::string& name);
  /// Whether the field is this text.
  bool is(const std::string& name, std::string_view text);
  /// Whether there is such a field; every other reader fails when there is not.
  bool has(const std::string& name) const;

  /// Fails when the object holds a field that was never asked for: a misspelt or foreign one.
  void finish() const;
  /// Throws the Error for a field whose value is not allowed.
  [[noreturn]] void reject(const std::string& name, std::string allowed, std::string remedy = {}) const;

 private:
  JsonFields(std::shared_ptr<const Json> object, Place place)
      : object_(std::move(object)), place_(std::move(place)) {}
  const Json& at(const std::string& name);
  // A value that fits.
  const Json& checked(const std::string& name, const auto& fits, std::string_view allowed);
  // A list whose every element fits.
  const Json& list(const std::string& name, const auto& fits, const std::string& what);
  // An object in this one, which stays in memory with it.
  JsonFields within(const Json& object) const {
    return {std::shared_ptr<const Json>(object_, &object), place_};
  }

  std::shared_ptr<const Json> object_;
  Place place_;
  std::string within_ = {};                // "tuning." before the names of an object's fields
  std::vector<const std::string*> asked_;  // names in the object
  std::size_t last_ = 0;                   // the place of the last one
};

/// A record's text, once `parse`, which takes a place as well, has read it back. What it cannot read must not
/// be written: that is a Bug.
template <typename Parse>
std::string checked_record(std::string text, const char* what, const Parse& parse) {
  try {
    parse(text, {});
  } catch (const Error& error) {
    throw Bug(fmt::format("{} that cannot be read back: {}", what, error.what()));
  }
  return text;
}

}  // namespace fedarena::results
