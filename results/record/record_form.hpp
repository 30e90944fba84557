#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/record/canary_audit.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {

/// Writes a record. A form is a function template that names each field of a record once, in the order of its
/// file: with a FormWriter it writes the record, with a FormReader it fills one and checks the bounds.
class FormWriter {
 public:
  explicit FormWriter(Json& json) : json_(json) {}
  Json& json() { return json_; }

  void text(const char* name, const std::string& value) { json_[name] = value; }
  void digest(const char* name, const std::string& value) { json_[name] = value; }
  void choice(const char* name, const std::string& value, const std::vector<std::string>& /*allowed*/) {
    json_[name] = value;
  }
  void integer(const char* name, std::int64_t value, std::int64_t /*least*/ = 0) { json_[name] = value; }
  /// Numbers of each kind are null where there is none.
  void number(const char* name, std::optional<double> value) { json_[name] = json_number(value); }
  void amount(const char* name, double value) { json_[name] = json_number(value); }
  /// A number, or a list of them.
  void per_client(const char* name, const PerClient& value) {
    if (!value.is_list()) return amount(name, value.number());
    json_[name] = value.numbers();
  }
  void fraction(const char* name, std::optional<double> value) { number(name, value); }
  void boolean(const char* name, bool value) { json_[name] = value; }
  /// Absent unless true.
  void flag(const char* name, bool value) {
    if (value) json_[name] = true;
  }
  void list_of_texts(const char* name, const std::vector<std::string>& values) { json_[name] = values; }
  /// An object of texts, whose names are distinct.
  void texts(const char* name, const std::vector<std::pair<std::string, std::string>>& values) {
    json_[name] = Json::object();
    for (const auto& [key, value] : values) json_[name][key] = value;
    FEDARENA_CHECK(json_[name].size(), ==, values.size());
  }
  void numbers(const char* name, const std::vector<std::pair<std::string, double>>& values) {
    for (const auto& [key, value] : values) json_[name][key] = json_number(value);
  }
  void choices(const char* name, const std::vector<ModelChoice>& choices) {
    for (const auto& [client, model] : choices) json_[name].push_back({client, model});
  }
  void fractions(const char* name, const std::vector<std::optional<double>>& values) {
    json_[name] = Json::array();
    for (const std::optional<double>& value : values) json_[name].push_back(json_number(value));
  }
  void privacy(const std::optional<PrivacyClaim>& claim) {
    if (claim) append_privacy(json_, *claim);
  }
  void audit(const std::optional<CanaryAudit>& audit) {
    if (audit) append_audit(json_, *audit);
  }
  void tuning(const std::optional<Tuning>& tuning) {
    if (tuning) append_tuning(json_, *tuning);
  }

  /// Whether the record has a part that may be absent, of which `name` is a field.
  template <typename Part>
  bool has(const char* /*name*/, const std::optional<Part>& part) const {
    return part.has_value();
  }
  bool has(const char* /*name*/, std::int64_t count) const { return count > 0; }
  template <typename Range>
  bool has(const char* /*name*/, const Range& range) const {
    return !range.empty();
  }
  /// A part that is there.
  template <typename Part>
  const Part& part(const std::optional<Part>& part) const {
    return *part;
  }

 private:
  Json& json_;
};

/// The other direction; throws what JsonFields throws.
class FormReader {
 public:
  explicit FormReader(JsonFields& fields) : fields_(fields) {}
  JsonFields& fields() { return fields_; }

  void text(const char* name, std::string& value) { value = fields_.text(name); }
  void digest(const char* name, std::string& value) { value = fields_.digest(name); }
  void choice(const char* name, std::string& value, const std::vector<std::string>& allowed) {
    value = fields_.choice(name, allowed);
  }
  void integer(const char* name, std::int64_t& value,
               std::int64_t least = std::numeric_limits<std::int64_t>::min()) {
    value = fields_.integer(name, least);
  }
  void number(const char* name, double& value) { value = fields_.number(name); }
  void number(const char* name, std::optional<double>& value) {
    if (!fields_.is_null(name)) value = fields_.number(name);
  }
  void amount(const char* name, double& value) { value = fields_.amount(name); }
  void per_client(const char* name, PerClient& value) { value = fields_.per_client(name); }
  void fraction(const char* name, double& value) { value = fields_.fraction(name); }
  void fraction(const char* name, std::optional<double>& value) {
    if (!fields_.is_null(name)) value = fields_.fraction(name);
  }
  void boolean(const char* name, bool& value) { value = fields_.boolean(name); }
  void flag(const char* name, bool& value) { value = fields_.has(name) && fields_.boolean(name); }
  void list_of_texts(const char* name, std::vector<std::string>& values) {
    values = fields_.list_of_texts(name);
  }
  void texts(const char* name, std::vector<std::pair<std::string, std::string>>& values) {
    values = fields_.texts(name);
  }
  void numbers(const char* name, std::vector<std::pair<std::string, double>>& values) {
    values = fields_.numbers(name);
  }
  void choices(const char* name, std::vector<ModelChoice>& choices) {
    for (const std::vector<std::int64_t>& pair : fields_.lists_of_integers(name, 0)) {
      if (pair.size() != 2 || (!choices.empty() && pair.front() <= choices.back().client))
        fields_.reject(name, "pairs of a client, ascending, and its model");
      choices.push_back({pair.front(), pair.back()});
    }
  }
  void fractions(const char* name, std::vector<std::optional<double>>& values) {
    values = fields_.fractions(name);
  }
  void privacy(std::optional<PrivacyClaim>& claim) { claim = read_privacy(fields_); }
  void audit(std::optional<CanaryAudit>& audit) { audit = read_audit(fields_); }
  void tuning(std::optional<Tuning>& tuning) { tuning = read_tuning(fields_); }

  template <typename Part>
  bool has(const char* name, const Part& /*part*/) const {
    return fields_.has(name);
  }
  template <typename Part>
  Part& part(std::optional<Part>& part) const {
    return part.emplace();
  }

 private:
  JsonFields& fields_;
};

}  // namespace fedarena::results
