#include "fedarena/base/schema.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/overload.hpp"
#include "fedarena/base/text.hpp"

namespace fedarena {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string to_text(const Value& value) {
  return std::visit(Overload{[](bool flag) { return std::string(flag ? "true" : "false"); },
                             [](std::int64_t number) { return fmt::format("{}", number); },
                             [](double number) { return number_text(number); },
                             [](const std::string& text) { return fedarena::quoted(text); },
                             [](const std::vector<std::int64_t>& list) {
                               return fmt::format("[{}]", fmt::join(list, ", "));
                             },
                             [](const PerClient& clients) {
                               const std::string texts = joined(clients.numbers(), ", ", number_text);
                               return clients.is_list() ? fmt::format("[{}]", texts) : texts;
                             }},
                    value);
}

std::string type_name(const Value& value) {
  return std::visit(
      Overload{[](bool) { return "a boolean"; }, [](std::int64_t) { return "an integer"; },
               [](double) { return "a number"; }, [](const std::string&) { return "a string"; },
               [](const std::vector<std::int64_t>&) { return "a list of integers"; },
               [](const PerClient& clients) { return clients.is_list() ? "a list of numbers" : "a number"; }},
      value);
}

Constraint Constraint::between(double lowest, double highest) {
  Constraint constraint = at_least(lowest);
  constraint.has_highest_ = true;
  constraint.highest_ = highest;
  return constraint;
}

Constraint Constraint::at_least(double lowest) {
  Constraint constraint;
  constraint.has_lowest_ = true;
  constraint.lowest_ = lowest;
  return constraint;
}

Constraint Constraint::positive() {
  Constraint constraint = at_least(0);
  constraint.lowest_excluded_ = true;
  return constraint;
}

Constraint Constraint::one_of(std::vector<std::string> names) {
  Constraint constraint;
  constraint.names_ = std::move(names);
  return constraint;
}

std::string Constraint::allowed(const Value& example) const {
  if (!names_.empty()) return join_names(names_of(names_, fedarena::quoted));
  if (std::holds_alternative<bool>(example)) return "true or false";
  std::string text = type_name(example);
  if (has_lowest_ && has_highest_) {
    text += fmt::format(" from {} to {}", lowest_, highest_);
  } else if (has_lowest_) {
    text += fmt::format(" {} {}", lowest_excluded_ ? ">" : ">=", lowest_);
  }
  return text + (std::holds_alternative<PerClient>(example) ? ", or a list of them" : "");
}

bool Constraint::holds_number(double value) const {
  if (!std::isfinite(value)) return false;
  if (has_lowest_ && (lowest_excluded_ ? value <= lowest_ : value < lowest_)) return false;
  return !has_highest_ || value <= highest_;
}

bool Constraint::holds(const Value& value) const {
  const auto all_hold = [this](const auto& list) {
    return std::ranges::all_of(list,
                               [this](auto number) { return holds_number(static_cast<double>(number)); });
  };
  return std::visit(
      Overload{[](bool) { return true; },
               [this](std::int64_t number) { return holds_number(static_cast<double>(number)); },
               [this](double number) { return holds_number(number); },
               [this](const std::string& text) { return names_.empty() || contains(names_, text); },
               [&](const std::vector<std::int64_t>& list) { return all_hold(list); },
               [&](const PerClient& clients) {
                 return !clients.numbers().empty() && all_hold(clients.numbers());
               }},
      value);
}

Value Field::checked(const Value& value) const {
  Value converted = value;
  const bool is_number = std::holds_alternative<double>(fallback);
  const bool is_per_client = std::holds_alternative<PerClient>(fallback);
  if (const auto* whole = std::get_if<std::int64_t>(&converted); whole && (is_number || is_per_client))
    converted = static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&converted); number && is_per_client)
    converted = PerClient(*number);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&converted); list && is_per_client)
    converted = PerClient(std::vector<double>(list->begin(), list->end()));
  const auto complain = [&](std::string found) {
    std::string nearest;
    if (const auto* text = std::get_if<std::string>(&value))
      nearest = nearest_name(*text, constraint.names());
    throw Error(Complaint{.found = std::move(found), .allowed = allowed(), .nearest = std::move(nearest)});
  };
  if (converted.index() != fallback.index()) {
    complain(fmt::format("{} is {} ({})", name, to_text(value), type_name(value)));
  }
  if (!constraint.holds(converted)) complain(fmt::format("{} is {}", name, to_text(value)));
  return converted;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
  return find_named(fields, name, &Field::name);
}

Settings complete(const std::vector<Field>& fields, const Settings& given) {
  for (const auto& [name, value] : given) {
    if (find_field(fields, name) != nullptr) continue;
    const std::vector<std::string> names = names_of(fields, &Field::name);
    throw Error(Complaint{.found = fmt::format("unknown key \"{}\"", name),
                          .allowed = names.empty() ? "no keys" : join_names(names),
                          .nearest = nearest_name(name, names)});
  }
  Settings result;
  for (const Field& field : fields) {
    Value value = field.fallback;
    for (const auto& [name, candidate] : given) {
      if (name == field.name) value = field.checked(candidate);
    }
    result.emplace_back(field.name, std::move(value));
  }
  return result;
}

}  // namespace fedarena
