#include "results/record/json_fields.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "accounting/json_text.hpp"
#include "harness/digest/sha256.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Line and column of a byte of the text, both from 1.
Place locate(std::string_view text, std::size_t byte, Place place) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto lines = static_cast<int>(std::ranges::count(before, '\n'));
  const std::size_t last = before.rfind('\n');
  place.line = std::max(place.line, 1) + lines;
  place.column = static_cast<int>(before.size() - (last == std::string_view::npos ? 0 : last + 1)) + 1;
  return place;
}

[[noreturn]] void fail(Place place, std::string found, std::string allowed, std::string remedy) {
  throw Error::at(std::move(place), std::move(found),
                  {.allowed = std::move(allowed), .remedy = std::move(remedy)});
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kLongest = 60;
  return shortened(one_line(json_text(value, -1)), kLongest);
}

bool is_integer(const Json& value, std::int64_t least) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits =
      value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMost);
  return fits && value.get<std::int64_t>() >= least;
}

bool is_amount(const Json& value) { return value.is_number() && value.get<double>() >= 0; }

bool is_fraction(const Json& value) { return is_amount(value) && value.get<double>() <= 1; }

std::string integers_text(std::int64_t least) {
  const bool any = least == std::numeric_limits<std::int64_t>::min();
  return any ? "whole numbers" : fmt::format("whole numbers from {}", least);
}

// Any double; none of anything else.
std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

Json json_number(std::optional<double> value) { return value ? json_number(*value) : Json(nullptr); }

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_lines(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("{}\n\"{}\": ", text.empty() ? "{" : ",", name);
    if (!value.is_array()) {
      text += json_text(value, -1);
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n" : ",\n") + json_text(value[i], -1);
    text += "\n]";
  }
  return text;
}

JsonFields::JsonFields(std::string_view text, Place place) : place_(std::move(place)) {
  try {
    object_ = std::make_shared<const Json>(parse_json<Json>(text));
  } catch (const Json::parse_error& failure) {
    fail(locate(text, failure.byte, place_), "not valid JSON", {}, kBrokenRecord);
  } catch (const Json::exception&) {  // a number beyond the range of a double
    fail(place_, "holds a number that is out of range", {}, kBrokenRecord);
  } catch (const Error& excess) {
    fail(place_, excess.complaint().found, excess.complaint().allowed, kBrokenRecord);
  }
  if (!object_->is_object()) fail(place_, "holds " + excerpt(*object_), "one JSON object", kBrokenRecord);
}

const Json& JsonFields::at(const std::string& name) {
  // Mostly the next one of the file, or the last one again.
  const auto& members = object_->get_ref<const Json::object_t&>();
  for (std::size_t tried = 0; tried < members.size(); ++tried) {
    const std::size_t at = (last_ + tried) % members.size();
    const auto& [key, value] = *(members.begin() + static_cast<std::ptrdiff_t>(at));
    if (key != name) continue;
    last_ = at;
    asked_.push_back(&key);
    return value;
  }
  fail(place_, fmt::format("field \"{}{}\" is missing", within_, name), {}, kBrokenRecord);
}

void JsonFields::reject(const std::string& name, std::string allowed, std::string remedy) const {
  fail(place_, fmt::format("field \"{}{}\" is {}", within_, name, excerpt(object_->at(name))),
       std::move(allowed), remedy.empty() ? kBrokenRecord : std::move(remedy));
}

std::int64_t JsonFields::integer(const std::string& name, std::int64_t least) {
  const Json& value = at(name);
  if (!is_integer(value, least)) {
    const bool any = least == std::numeric_limits<std::int64_t>::min();
    reject(name, any ? "a whole number" : fmt::format("a whole number from {}", least));
  }
  return value.get<std::int64_t>();
}

void JsonFields::schema(std::int64_t known) {
  const std::int64_t schema = integer("schema");
  if (schema == known) return;
  fail(place_,
       fmt::format("field \"schema\" is {}, and this build reads {}: run the experiment again, or take the "
                   "build that wrote it",
                   schema, known),
       {}, {});
}

double JsonFields::number(const std::string& name) {
  if (const std::optional<double> value = number_of(at(name))) return *value;
  reject(name, R"(a number, "nan", "inf" or "-inf")");
}

const Json& JsonFields::checked(const std::string& name, const auto& fits, std::string_view allowed) {
  const Json& value = at(name);
  if (!std::invoke(fits, value)) reject(name, std::string(allowed));
  return value;
}

double JsonFields::amount(const std::string& name) {
  return checked(name, is_amount, "a number from 0").get<double>();
}

PerClient JsonFields::per_client(const std::string& name) {
  if (!at(name).is_array()) return amount(name);
  const std::vector<double> list = amounts(name);
  if (list.empty()) reject(name, "a number from 0, or a list of them");
  return PerClient(list);
}

double JsonFields::fraction(const std::string& name) {
  return checked(name, is_fraction, "a fraction from 0 to 1").get<double>();
}

const Json& JsonFields::list(const std::string& name, const auto& fits, const std::string& what) {
  const auto all_fit = [&](const Json& value) {
    return value.is_array() && std::ranges::all_of(value, fits);
  };
  return checked(name, all_fit, "a list of " + what);
}

std::vector<std::optional<double>> JsonFields::fractions(const std::string& name) {
  const auto fits = [](const Json& one) { return one.is_null() || is_fraction(one); };
  std::vector<std::optional<double>> result;
  for (const Json& one : list(name, fits, "fractions from 0 to 1 or null"))
    result.push_back(one.is_null() ? std::nullopt : std::optional(one.get<double>()));
  return result;
}

std::vector<double> JsonFields::amounts(const std::string& name) {
  return list(name, is_amount, "numbers from 0").get<std::vector<double>>();
}

std::vector<double> JsonFields::any_numbers(const std::string& name) {
  const auto fits = [](const Json& one) { return number_of(one).has_value(); };
  std::vector<double> result;
  for (const Json& one : list(name, fits, R"(numbers, "nan", "inf" or "-inf")"))
    result.push_back(*number_of(one));
  return result;
}

std::vector<bool> JsonFields::booleans(const std::string& name) {
  return list(name, &Json::is_boolean, "true and false").get<std::vector<bool>>();
}

std::vector<std::string> JsonFields::list_of_texts(const std::string& name) {
  return list(name, &Json::is_string, "texts").get<std::vector<std::string>>();
}

std::vector<std::int64_t> JsonFields::integers(const std::string& name, std::int64_t least) {
  const auto fits = [&](const Json& one) { return is_integer(one, least); };
  return list(name, fits, integers_text(least)).get<std::vector<std::int64_t>>();
}

std::vector<std::vector<std::int64_t>> JsonFields::lists_of_integers(const std::string& name,
                                                                     std::int64_t least) {
  const auto fits = [&](const Json& one) {
    return one.is_array() &&
           std::ranges::all_of(one, [&](const Json& number) { return is_integer(number, least); });
  };
  return list(name, fits, "lists of " + integers_text(least)).get<std::vector<std::vector<std::int64_t>>>();
}

JsonFields JsonFields::object(const std::string& name) {
  JsonFields fields = within(checked(name, &Json::is_object, "an object"));
  fields.within_ = fmt::format("{}{}.", within_, name);
  return fields;
}

std::vector<JsonFields> JsonFields::objects(const std::string& name) {
  std::vector<JsonFields> result;
  for (const Json& one : list(name, &Json::is_object, "objects")) result.push_back(within(one));
  return result;
}

std::string JsonFields::text(const std::string& name) {
  return checked(name, &Json::is_string, "a text").get<std::string>();
}

std::string JsonFields::digest(const std::string& name) {
  std::string digest = text(name);
  if (!is_sha256(digest)) reject(name, "64 lower-case hexadecimal digits");
  return digest;
}

bool JsonFields::boolean(const std::string& name) {
  return checked(name, &Json::is_boolean, "true or false").get<bool>();
}

std::string JsonFields::choice(const std::string& name, const std::vector<std::string>& allowed) {
  std::string value = text(name);
  if (!contains(allowed, value)) reject(name, join_names(allowed));
  return value;
}

std::vector<std::pair<std::string, std::string>> JsonFields::texts(const std::string& name) {
  const auto fits = [](const Json& one) {
    return one.is_object() && std::ranges::all_of(one, &Json::is_string);
  };
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [key, text] : checked(name, fits, "an object of texts").items())
    result.emplace_back(key, text.get<std::string>());
  return result;
}

std::vector<std::pair<std::string, double>> JsonFields::numbers(const std::string& name) {
  JsonFields fields = object(name);
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [key, number] : fields.object_->items()) result.emplace_back(key, fields.number(key));
  return result;
}

bool JsonFields::is_null(const std::string& name) { return at(name).is_null(); }

bool JsonFields::is(const std::string& name, std::string_view text) {
  const Json& value = at(name);
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

bool JsonFields::has(const std::string& name) const { return object_->contains(name); }

void JsonFields::finish() const {
  for (auto field = object_->begin(); field != object_->end(); ++field) {
    const std::string& name = field.key();
    if (contains(asked_, &name)) continue;
    std::vector<std::string> known;
    for (const std::string* one : asked_) known.push_back(*one);
    throw Error::at(place_, fmt::format("field \"{}{}\" is unknown", within_, one_line(name)),
                    {.nearest = nearest_name(name, known), .remedy = kBrokenRecord});
  }
}

}  // namespace fedarena::results
