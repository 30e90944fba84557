#include "results/export/settings_text.hpp"

#include <string_view>

#include <fmt/format.h>

#include "results/table/notes.hpp"
#include "results/text/markup.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
std::string settings_text(const Summary& summary) {
  std::string text = "| setting | value |\n|:--|:--|\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("| {} | {} |\n", markdown_escaped(name), markdown_escaped(value));
  };
  add("experiment", summary.experiment);
  add("data set", summary.dataset);
  add("note on the data", summary.dataset_note);
  add("partition", summary.partition);
  add("model", summary.model);
  for (const auto& [path, value] : summary.sweep) add(path, value);
  add("algorithm", summary.algorithm);
  add("label", summary.label);
  for (const auto& [name, value] : summary.algorithm_parameters) add(name, value);
  if (summary.tuning) {
    add("tuned by", trials_text(summary.tuning));
    add("chosen by tuning", chosen_text(*summary.tuning, summary.label));
  }
  add("seed", std::to_string(summary.seed));
  add("rounds", std::to_string(summary.rounds));
  add("clients", std::to_string(summary.clients));
  add("numbers in the model", std::to_string(summary.parameters));
  add("privacy policy", summary.policy);
  if (summary.privacy) {
    add("adjacency", summary.privacy->adjacency);
    add("delta", short_number(summary.privacy->settings.delta));
  }
  return text;
}

}  // namespace fedarena::results
