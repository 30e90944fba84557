#include "results/plot/choice_plot.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/plot/curve_script.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"
#include "results/table/notes.hpp"

namespace fedarena::results {
namespace {

// Clients whose numbers have room beside their rows.
constexpr std::size_t kMostNumbered = 60;
// Of a pixel each.
constexpr std::size_t kMostRows = 1000;

std::string boxes_of(const Choices& choices, std::int64_t model) {
  std::string lines;
  for (std::size_t row = 0; row < choices.rows.size(); ++row) {
    for (const Choices::Taken& one : choices.rows[row].taken) {
      if (one.model == model) lines += fmt::format("{} {}\n", choices.rounds[one.position], row);
    }
  }
  return lines;
}

std::string client_tics(const Choices& choices) {
  if (choices.rows.size() > kMostNumbered) return "unset ytics\n";
  std::vector<std::string> tics;
  for (std::size_t row = 0; row < choices.rows.size(); ++row)
    tics.push_back(fmt::format("'{}' {}", choices.rows[row].client, row));
  return fmt::format("set ytics ({}) out nomirror\n", fmt::join(tics, ", "));
}

std::int64_t most_frequent(const std::vector<Choices::Taken>& taken) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const Choices::Taken& one : taken) ++counts[one.model];
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace

Choices choices_of(std::span<const RoundRecord> rounds) {
  Choices all;
  std::map<std::int64_t, Choices::Row> rows;
  std::set<std::int64_t> models;
  for (const RoundRecord& round : rounds) {
    if (round.choices.empty()) continue;
    for (const auto& [client, model] : round.choices) {
      rows[client].taken.push_back({all.rounds.size(), model});
      models.insert(model);
    }
    all.rounds.push_back(round.round);
  }
  all.models.assign(models.begin(), models.end());
  for (auto& [client, row] : rows) {
    row.client = client;
    row.most = most_frequent(row.taken);
    all.rows.push_back(std::move(row));
  }
  std::ranges::sort(all.rows, {}, [](const Choices::Row& row) { return std::tuple(row.most, row.client); });
  return all;
}

std::string choices_text(const Choices& choices) {
  std::size_t again = 0, same = 0;
  std::map<std::int64_t, std::size_t> last;
  for (const Choices::Row& row : choices.rows) {
    ++last[row.taken.back().model];
    if (row.taken.size() < 2) continue;
    ++again;
    if (std::ranges::all_of(row.taken, [&](const auto& one) { return one.model == row.most; })) ++same;
  }
  const auto part = [](const auto& of) { return fmt::format("{} model {}", of.second, of.first); };
  return fmt::format("{}; {} of the {} that took part more than once always took the same model; last, {}",
                     counted(choices.rows.size(), "client"), same, again, joined(last, ", ", part));
}

RunChoices find_choices(std::span<const FoundRun> runs) {
  std::vector<RunChoices> found;
  std::vector<std::string> places, notes;
  for (const FoundRun& run : runs) {
    if (!run.summary) notes.push_back(broken_note(run));
    if (!run.summary || run.summary->state != kFinished) continue;
    Choices choices = choices_of(RunDirectory::open(run.path).rounds());
    if (choices.rows.empty()) continue;
    found.push_back({fmt::format("{}, seed {}", run.summary->label, run.summary->seed), std::move(choices)});
    places.push_back(run.path.string());
  }
  if (found.empty()) {
    notes.emplace_back("--choices draws runs of algorithms that say so, such as ifca.");
    throw Error(Complaint{.found = "in no finished run did clients choose from several models",
                          .remedy = fmt::format("{}", fmt::join(notes, "\n"))});
  }
  if (found.size() > 1) {
    throw Error(Complaint{.found = fmt::format("{} runs hold choices of clients", found.size()),
                          .allowed = "one of them",
                          .remedy = fmt::format("Name its folder:\n{}", fmt::join(places, "\n"))});
  }
  found.front().notes = std::move(notes);
  return std::move(found.front());
}

std::string choices_script(const RunChoices& run, Terminal terminal) {
  const Choices& choices = run.choices;
  check_distinct(choices.models.size(), kMostCurves, "models");
  check_distinct(choices.rows.size(), kMostRows, "clients");
  const auto height = static_cast<int>(std::clamp<std::size_t>(220 + 16 * choices.rows.size(), 480, 1600));
  std::string script = terminal_lines(terminal, 1200, height);
  script += fmt::format(
      "set title {}\n"
      "set xlabel 'round'\n"
      "set ylabel 'client'\n"
      "set xrange [{}:{}]\n"
      "set yrange [{}:-0.5]\n"
      "set xtics out nomirror\n"
      "{}{}"
      "set key outside right top\n"
      "set style fill solid 1 noborder\n",
      gnuplot_string(fmt::format("Which model each client took: {}", run.name), terminal),
      static_cast<double>(choices.rounds.front()) - 0.5, static_cast<double>(choices.rounds.back()) + 0.5,
      static_cast<double>(choices.rows.size()) - 0.5,
      whole_tics(static_cast<double>(choices.rounds.front()), static_cast<double>(choices.rounds.back())),
      client_tics(choices));
  std::vector<std::string> layers;
  for (const std::int64_t model : choices.models) {
    script += fmt::format("$model{} << END\n{}END\n", model, boxes_of(choices, model));
    layers.push_back(
        fmt::format("$model{0} using 1:2:(0.5):(0.5) with boxxyerror linecolor rgb '{1}' title 'model {0}'",
                    model, look_of(static_cast<std::size_t>(model)).colour));
  }
  return script + fmt::format("plot {}\n", fmt::join(layers, ", \\\n  "));
}

std::string choices_json(const RunChoices& run) {
  Json json = {{"run", run.name}, {"clients", Json::array()}};
  for (const Choices::Row& row : run.choices.rows) {
    Json taken = Json::array();
    for (const Choices::Taken& one : row.taken)
      taken.push_back({{"round", run.choices.rounds[one.position]}, {"model", one.model}});
    json["clients"].push_back({{"client", row.client}, {"taken", std::move(taken)}});
  }
  json["notes"] = run.notes;
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
