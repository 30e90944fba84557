#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/find.hpp"

#include "results/export/exported_runs.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_setup.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// One column of a run's lines; without a text where the record holds nothing.
struct Field {
  std::string name;
  std::optional<std::string> text = {};
  bool literal = false;  // stands in JSON without quotes
};

Field text_if_any(std::string name, std::string value) {
  if (value.empty()) return {.name = std::move(name)};
  return {.name = std::move(name), .text = std::move(value)};
}

using Paths = std::set<std::string, NaturalOrder>;

// What columns there are besides those of every file.
struct Extra {
  Paths swept;         // the paths that any run sweeps
  Paths chosen;        // and those that tuning chose for any run
  bool tuned = false;  // whether there is such a run
};

Extra extra_columns(std::span<const ExportedRun> runs) {
  Extra extra;
  for (const ExportedRun& run : runs) {
    for (const auto& [path, value] : run.summary.sweep) extra.swept.insert(path);
    if (!run.summary.tuning) continue;
    extra.tuned = true;
    for (const auto& [path, value] : run.summary.tuning->chosen) extra.chosen.insert(path);
  }
  return extra;
}

Field value_at(const std::string& path, const Sweep& sweep, std::string name) {
  const auto* found = find_named(sweep, path, &Sweep::value_type::first);
  return text_if_any(std::move(name), found == nullptr ? "" : found->second);
}

// A run may sweep what another one tunes, so the columns are named as the file has them: below [tuning].
void append_tuning(std::vector<Field>& fields, const std::optional<Tuning>& tuning, const Extra& extra) {
  if (!extra.tuned) return;
  fields.push_back({.name = "tuning.trials", .literal = true});
  if (tuning) fields.back().text = std::to_string(tuning->trials);
  for (const std::string& path : extra.chosen)
    fields.push_back(value_at(path, tuning ? tuning->chosen : Sweep{}, "tuning." + path));
}

// What the run claims, and what its epsilons rest on.
void append_privacy(std::vector<Field>& fields, const ExportedRun& run) {
  const bool is_private = run.summary.privacy.has_value();
  const PrivacyClaim claim = run.summary.privacy.value_or(PrivacyClaim{});
  const auto if_private = [&](std::string text) {
    return is_private ? std::optional(std::move(text)) : std::nullopt;
  };
  fields.push_back(text_if_any("unit", claim.unit));
  fields.push_back(text_if_any("adjacency", claim.adjacency));
  fields.push_back({"delta", if_private(exact_number(claim.settings.delta)), true});
  fields.push_back(text_if_any("orders", is_private ? claim.settings.orders : ""));
  fields.push_back(text_if_any("conversion", is_private ? claim.settings.conversion : ""));
  fields.push_back(text_if_any("assumed", assumption(run.summary)));
  fields.push_back(text_if_any("public_data", public_text(claim)));
  fields.push_back({"control", if_private(is_control(run.summary, run.settings) ? "true" : "false"), true});
}

// What is the same on every line of a run.
std::vector<Field> fields_of(const ExportedRun& run, const Extra& extra) {
  const Summary& summary = run.summary;
  std::vector<Field> fields = {{"run", run.name},
                               {"experiment", summary.experiment},
                               {"dataset", summary.dataset},
                               {"partition", summary.partition},
                               {"model", summary.model}};
  for (const std::string& path : extra.swept) fields.push_back(value_at(path, summary.sweep, path));
  append_tuning(fields, summary.tuning, extra);
  fields.push_back({"algorithm", summary.algorithm});
  fields.push_back({"label", summary.label});
  fields.push_back({"seed", std::to_string(summary.seed), true});
  fields.push_back({"state", summary.state});
  fields.push_back({"policy", summary.policy});
  append_privacy(fields, run);
  return fields;
}

std::string csv_of(const std::vector<std::string>& cells) {
  std::string line = csv_line(cells);
  line.pop_back();  // more follows
  return line;
}

std::string json_string(const std::string& text) { return json_text(Json(text), -1); }

std::string as_json(const std::vector<Field>& fields) {
  return joined(fields, "", [](const Field& field) {
    const std::string value = !field.text ? "null" : field.literal ? *field.text : json_string(*field.text);
    return json_string(field.name) + ':' + value + ',';
  });
}

}  // namespace

std::string long_csv(std::span<const ExportedRun> runs, const Measures& measures) {
  const Extra extra = extra_columns(runs);
  std::string lines;
  for (const ExportedRun& run : runs) {
    const std::vector<Field> fields = fields_of(run, extra);
    if (lines.empty()) lines = csv_of(names_of(fields, &Field::name)) + ",round,measure,value\n";
    const std::string begin =
        csv_of(names_of(fields, [](const Field& field) { return field.text.value_or(""); }));
    for (const RoundRecord& round : run.rounds) {
      for (const RoundValue& value : round_values(run, round, measures)) {
        lines += fmt::format("{},{},{},{}\n", begin, round.round, csv_of({value.name}), value.text);
      }
    }
  }
  return lines;
}

std::string long_json_lines(std::span<const ExportedRun> runs, const Measures& measures) {
  const Extra extra = extra_columns(runs);
  std::string lines;
  for (const ExportedRun& run : runs) {
    const std::string begin = as_json(fields_of(run, extra));
    for (const RoundRecord& round : run.rounds) {
      for (const RoundValue& value : round_values(run, round, measures)) {
        const std::string shown = std::isfinite(value.number) ? value.text : json_string(value.text);
        lines += fmt::format(R"({{{}"round":{},"measure":{},"value":{}}})", begin, round.round,
                             json_string(value.name), shown);
        lines += '\n';
      }
    }
  }
  return lines;
}

}  // namespace fedarena::results
