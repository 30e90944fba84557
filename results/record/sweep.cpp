#include "results/record/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/record_form.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

bool is_below(const std::string& path, std::string_view section) {
  return path.size() > section.size() && path.starts_with(section) && path[section.size()] == '.';
}

// Whether "name = " begins there.
bool begins_setting(std::string_view text) {
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  return end != 0 && end != std::string_view::npos && text.substr(end).starts_with(" = ");
}

// Whether a text in quotes has no end there.
bool ends_in_quotes(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\\') ++i;
  }
  return quoted;
}

// Where the settings of "mlp (hidden = [200])" begin; the end of the text without any.
std::size_t opening(std::string_view choice) {
  const std::size_t open = choice.find(" (");
  return open == std::string_view::npos || choice.back() != ')' ? choice.size() : open;
}

// "iid (clients = 10, order = [1, 2])" in its settings; lists and texts hold commas too.
std::vector<std::string> settings_of(std::string_view choice) {
  const std::size_t open = opening(choice);
  if (open == choice.size()) return {};
  const std::string_view text = choice.substr(open + 2, choice.size() - open - 3);
  std::vector<std::string> settings;
  std::size_t begin = 0;
  for (std::size_t comma = text.find(", "); comma != std::string_view::npos;
       comma = text.find(", ", comma + 2)) {
    if (!begins_setting(text.substr(comma + 2)) || ends_in_quotes(text.substr(begin, comma - begin)))
      continue;
    settings.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 2;
  }
  settings.emplace_back(text.substr(begin));
  return settings;
}

}  // namespace

Sweep shared_sweep(const Sweep& sweep) {
  Sweep shared;
  for (const auto& pair : sweep) {
    if (!pair.first.starts_with(kAlgorithmPaths)) shared.push_back(pair);
  }
  return shared;
}

std::optional<std::string> own_key(const std::string& path, const std::string& label) {
  for (const std::string& begin :
       {fmt::format("{}{}.", kAlgorithmPaths, label), fmt::format("{}\"{}\".", kAlgorithmPaths, label)}) {
    if (path.starts_with(begin)) return path.substr(begin.size());
  }
  return std::nullopt;
}

Sweep own_sweep(const Sweep& sweep, const std::string& label) {
  Sweep own;
  for (const auto& [path, value] : sweep) {
    if (path.starts_with(kAlgorithmPaths))
      own.emplace_back(own_key(path, label).value_or(path.substr(kAlgorithmPaths.size())), value);
  }
  return own;
}

std::string parameter_of(const std::string& path) {
  return path.starts_with(kTrainingPaths) ? path.substr(kTrainingPaths.size()) : path;
}

std::string plain_value(const std::string& text) {
  const auto number = parse_number<double>(text);
  return number ? fmt::format("{}", *number) : unquoted(text);
}

std::string sweep_text(const Sweep& sweep) {
  return joined(sweep, ", ", [](const auto& setting) { return setting.first + "=" + setting.second; });
}

std::string swept_in(const Sweep& sweep, std::string_view section) {
  Sweep below;
  for (const auto& pair : sweep) {
    if (is_below(pair.first, section)) below.push_back(pair);
  }
  return sweep_text(below);
}

std::string name_of_choice(const std::string& choice) { return choice.substr(0, opening(choice)); }

Sweep settings_of_choice(const std::string& choice) {
  Sweep settings;
  for (const std::string& setting : settings_of(choice)) {
    const std::size_t equals = setting.find(" = ");
    if (equals != std::string::npos)
      settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 3));
  }
  return settings;
}

std::string without_swept(const std::string& choice, const Sweep& sweep, std::string_view section) {
  std::string kept;
  for (const std::string& setting : settings_of(choice)) {
    const std::string path = fmt::format("{}.{}", section, setting.substr(0, setting.find(" = ")));
    const bool swept = std::ranges::any_of(sweep, [&](const auto& pair) { return pair.first == path; });
    if (!swept) kept += (kept.empty() ? "" : ", ") + setting;
  }
  return name_of_choice(choice) + (kept.empty() ? "" : fmt::format(" ({})", kept));
}

void form_tuning(RecordForm& form, Tuning& tuning) {
  form.choice("search", tuning.search, {"grid", "random"});
  form.integer("trials", tuning.trials, 1);
  form.integer("seed", tuning.seed, 0);
  form.texts("chosen", tuning.chosen);
  form.choice("criterion", tuning.criterion,
              {std::string(kByValidationAccuracy), std::string(kByValidationLoss)});
  if (tuning.criterion == kByValidationAccuracy) {
    form.fraction("score", tuning.score);
  } else {
    form.number("score", tuning.score);
  }
  form.integer("examples", tuning.examples, 0);
  form.amount("seconds", tuning.seconds);
  if (form.fields() != nullptr && tuning.chosen.empty())
    form.fields()->reject("chosen", "the settings of the best trial");
}

void append_tuning(Json& json, const Tuning& tuning, bool with_costs) {
  Json& object = json["tuning"] = json_of_record(tuning, form_tuning);
  if (!with_costs) object["examples"] = object["seconds"] = nullptr;
}

}  // namespace fedarena::results
