#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "results/record/json_fields.hpp"

namespace fedarena::results {

/// Writes a record, or fills one and checks the bounds. A form is a function that names each field of a
/// record once, in the order of its file, and serves for both. Throws what JsonFields throws.
class RecordForm {
 public:
  explicit RecordForm(Json& json) : json_(&json) {}
  explicit RecordForm(JsonFields& fields) : fields_(&fields) {}

  /// What is written, or nullptr.
  Json* json() { return json_; }
  /// What is read, for checks of fields against each other, or nullptr.
  JsonFields* fields() { return fields_; }

  /// A field of any kind that JsonFields reads. One that is optional is null where there is none.
  template <typename Value, typename Read, typename... Bounds>
  void field(const char* name, Value& value, Read read, const Bounds&... bounds) {
    if (fields_ == nullptr) {
      (*json_)[name] = json_of(value);
    } else if (!std::is_same_v<Value, std::optional<double>> || !fields_->is_null(name)) {
      value = (fields_->*read)(name, bounds...);
    }
  }
  void text(const char* name, std::string& value) { field(name, value, &JsonFields::text); }
  void choice(const char* name, std::string& value, const std::vector<std::string>& allowed) {
    field(name, value, &JsonFields::choice, allowed);
  }
  void integer(const char* name, std::int64_t& value, std::int64_t least) {
    field(name, value, &JsonFields::integer, least);
  }
  void number(const char* name, auto& value) { field(name, value, &JsonFields::number); }
  void fraction(const char* name, auto& value) { field(name, value, &JsonFields::fraction); }
  void amount(const char* name, double& value) { field(name, value, &JsonFields::amount); }
  void boolean(const char* name, bool& value) { field(name, value, &JsonFields::boolean); }
  /// Absent unless true.
  void flag(const char* name, bool& value) {
    if (has(name, value)) boolean(name, value);
  }
  /// An object of texts, whose names are distinct.
  void texts(const char* name, std::vector<std::pair<std::string, std::string>>& values) {
    field(name, values, &JsonFields::texts);
  }
  /// A part with a form of its own; absent where there is none.
  template <typename Part, typename Form>
  void object(const char* name, std::optional<Part>& part, const Form& form) {
    if (!has(name, part)) return;
    if (fields_ == nullptr) {
      RecordForm inner((*json_)[name]);
      return form(inner, *part);
    }
    JsonFields fields = fields_->object(name);
    read_part(fields, part.emplace(), form);
  }
  /// A list of such parts.
  template <typename Part, typename Form>
  void objects(const char* name, std::vector<Part>& parts, const Form& form) {
    if (fields_ != nullptr) {
      for (JsonFields& fields : fields_->objects(name)) read_part(fields, parts.emplace_back(), form);
      return;
    }
    Json& list = (*json_)[name] = Json::array();
    for (Part& part : parts) {
      RecordForm inner(list.emplace_back());
      form(inner, part);
    }
  }

  /// Whether the record has a part that may be absent, of which `name` is a field.
  template <typename Part>
  bool has(const char* name, const Part& part) const {
    if (fields_ != nullptr) return fields_->has(name);
    if constexpr (std::is_integral_v<Part>) {
      return part > 0;
    } else if constexpr (requires { part.has_value(); }) {
      return part.has_value();
    } else {
      return !part.empty();
    }
  }
  /// A part that is there.
  template <typename Part>
  Part& part(std::optional<Part>& part) const {
    return fields_ != nullptr ? part.emplace() : part.value();
  }

 private:
  template <typename Part, typename Form>
  static void read_part(JsonFields& fields, Part& part, const Form& form) {
    RecordForm inner(fields);
    form(inner, part);
    fields.finish();
  }
  template <typename Value>
  static const Value& json_of(const Value& value) {
    return value;
  }
  static Json json_of(double value) { return json_number(value); }
  static Json json_of(std::optional<double> value) { return json_number(value); }
  static Json json_of(const PerClient& value) {
    return value.is_list() ? Json(value.numbers()) : json_number(value.number());
  }
  template <typename Number>
  static Json json_of(const std::vector<Number>& values) {
    Json json = Json::array();
    for (const Number& value : values) json.push_back(json_of(value));
    return json;
  }
  template <typename Value>
  static Json json_of(const std::vector<std::pair<std::string, Value>>& values) {
    Json json = Json::object();
    for (const auto& [key, value] : values) json[key] = json_of(value);
    FEDARENA_CHECK(json.size(), ==, values.size());
    return json;
  }

  Json* json_ = nullptr;
  JsonFields* fields_ = nullptr;
};

/// Appends the fields of a record to an object.
template <typename Record>
void append_fields(Json& json, Record record, void (*form)(RecordForm&, Record&)) {
  RecordForm fields(json);
  form(fields, record);
}

/// The record as an object, which begins with its schema where it is the whole of a text.
template <typename Record>
Json json_of_record(const Record& record, void (*form)(RecordForm&, Record&),
                    std::optional<std::int64_t> schema = {}) {
  Json json;
  if (schema) json["schema"] = *schema;
  append_fields(json, record, form);
  return json;
}

/// The record that is the whole of a text, of the schema that this build reads.
template <typename Record>
Record parse_record(std::string_view text, const std::string& file, std::int64_t schema,
                    void (*form)(RecordForm&, Record&)) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(schema);
  Record record;
  RecordForm reader(fields);
  form(reader, record);
  fields.finish();
  return record;
}

}  // namespace fedarena::results
