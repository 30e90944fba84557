#include "results/table/notes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/run_setup.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Names = std::set<std::string, NaturalOrder>;

// "fedavg, seeds 1, 3; scaffold, seed 2": those of which that holds.
std::string rows_and_seeds(std::span<const RowRuns> rows, bool (*holds)(const Summary&)) {
  std::map<std::string, std::string, NaturalOrder> found;
  for (const RowRuns& row : rows) {
    const auto seeds = row.seeds_where([&](const FoundRun& run) { return holds(*run.summary); });
    if (!seeds.empty()) found.emplace(row.name, fmt::format("{}, {}", row.name, seeds_text(seeds)));
  }
  return joined(found, "; ", [](const auto& entry) { return entry.second; });
}

std::vector<std::string> divergence_notes(std::span<const RowRuns> rows) {
  const std::string all = rows_and_seeds(rows, diverged);
  const std::string some = rows_and_seeds(rows, [](const Summary& summary) {
    return !diverged(summary) && summary.per_client && summary.per_client->diverged > 0;
  });
  std::vector<std::string> notes;
  if (!all.empty()) notes.push_back("diverged (nan or infinite loss after the last round): " + all);
  if (!some.empty())
    notes.push_back("diverged for some clients, whose accuracies are those of guessing: " + some);
  return notes;
}

// Data sets by what a note calls them: "csv" instead of "csv (path = ...)" where no other data set of these
// rows has the same name with other settings.
std::map<std::string, std::string> brief_datasets(std::span<const RowRuns> rows) {
  std::map<std::string, std::set<std::string>> by_name;
  for (const RowRuns& row : rows) {
    const std::string& dataset = row.key.setting.dataset;
    by_name[name_of_choice(dataset)].insert(dataset);
  }
  std::map<std::string, std::string> brief;
  for (const auto& [name, datasets] : by_name) {
    for (const std::string& dataset : datasets) brief[dataset] = datasets.size() == 1 ? name : dataset;
  }
  return brief;
}

std::vector<std::string> dataset_notes(std::span<const RowRuns> rows) {
  std::set<std::pair<std::string, std::string>, NaturalOrder> notes;
  for (const RowRuns& row : rows) {
    const std::string& note = row.summary().dataset_note;
    if (!note.empty()) notes.emplace(row.key.setting.dataset, note);
  }
  std::vector<std::string> lines;
  const std::map<std::string, std::string> brief = brief_datasets(rows);
  for (const auto& [dataset, note] : notes)
    lines.push_back(fmt::format("data set {}: {}", brief.at(dataset), note));
  return lines;
}

// Data sets whose examples were not the same for all rows.
std::vector<std::string> data_notes(std::span<const RowRuns> rows) {
  std::map<std::string, std::map<std::string, Names>> datasets;
  for_each_run(rows, [&](const RowRuns& row, const Summary& summary) {
    datasets[summary.dataset][summary.data_hash].insert(row.name);
  });
  std::vector<std::string> notes;
  const std::map<std::string, std::string> brief = brief_datasets(rows);
  for (const auto& [dataset, hashes] : datasets) {
    if (hashes.size() == 1) continue;
    std::vector<std::string> texts;
    for (const auto& [hash, having] : hashes)
      texts.push_back(fmt::format("{} (SHA-256 {})", fmt::join(having, ", "), short_hash(hash)));
    notes.push_back(
        fmt::format("data set {}: its examples were not the same for all rows, which cannot be "
                    "compared: {}",
                    brief.at(dataset), fmt::join(texts, "; ")));
  }
  return notes;
}

// Of a run that could not test all clients, or held some out; empty of others.
std::string untested_note(const Summary& summary) {
  const std::int64_t clients = summary.clients - summary.held_out_clients;
  const std::int64_t tested = summary.per_client      ? summary.per_client->tested
                              : summary.client_errors ? summary.client_errors->tested
                                                      : clients;
  if (tested >= clients) return {};
  return fmt::format(
      "only {} of {} clients have test examples of their own, and what is said of clients rests on them",
      tested, clients);
}

std::string held_out_note(const Summary& summary) {
  if (summary.held_out_clients == 0) return {};
  return fmt::format(
      "{} of {} clients never train; validation is on them, each alike, and what is said of clients is said "
      "of the others; the test set holds their test examples, by which runs may have been stopped or chosen",
      summary.held_out_clients, summary.clients);
}

// Each text that `text_of` has for some run, and the rows of those runs.
std::vector<std::string> alike_notes(std::span<const RowRuns> rows, std::string (*text_of)(const Summary&)) {
  std::map<std::string, Names, NaturalOrder> found;
  for_each_run(rows, [&](const RowRuns& row, const Summary& summary) {
    if (const std::string text = text_of(summary); !text.empty()) found[text].insert(row.name);
  });
  std::vector<std::string> notes;
  for (const auto& [text, having] : found)
    notes.push_back(fmt::format("{}: {}", text, fmt::join(having, "; ")));
  return notes;
}

// Of the runs that tested clients, those that tested them with models of their own.
std::vector<std::string> personal_notes(std::span<const RowRuns> rows) {
  Names personal;
  bool is_private = false;
  for_each_run(rows, [&](const RowRuns& row, const Summary& summary) {
    if (!summary.personal) return;
    personal.insert(row.name);
    is_private = is_private || summary.privacy.has_value();
  });
  if (personal.empty()) return {};
  return {fmt::format(
      "personal: what is said of clients is said of models of their own, made from their examples{}: {}",
      is_private
          ? "; what these learn when they are tested is without noise and stays with the client, and no "
            "epsilon covers their scores"
          : "",
      fmt::join(personal, "; "))};
}

// Whether a grid or a tuning, of which columns and notes tell, gave the row that parameter.
bool was_given(const RowRuns& row, const std::string& parameter) {
  const auto& tuning = row.summary().tuning;
  return swept_value(row.key.own_sweep, parameter) ||
         (tuning && std::ranges::any_of(tuning->chosen, [&](const auto& chosen) {
            return chosen.first.ends_with("." + parameter);
          }));
}

// The parameters that algorithms of one setting have by one name with different values, which tell them apart
// as well: "batch_size 16 (fedavg, fedprox), 64 (scaffold)".
std::vector<std::string> parameter_notes(std::span<const RowRuns> rows) {
  using Values = std::map<std::string, Names, NaturalOrder>;
  std::map<std::string, Values, NaturalOrder> parameters;  // of the setting at hand
  Names differing;
  const auto add_differing = [&] {
    for (const auto& [parameter, values] : parameters) {
      if (values.size() < 2) continue;
      Names all;
      std::vector<std::string> texts;
      for (const auto& [value, labels] : values) {
        all.insert(labels.begin(), labels.end());
        texts.push_back(fmt::format("{} ({})", value, fmt::join(labels, ", ")));
      }
      if (all.size() == 1) continue;  // rows of one algorithm, which another note tells apart
      differing.insert(one_line(fmt::format("{} {}", parameter, fmt::join(texts, ", "))));
    }
    parameters.clear();
  };
  const Setting* setting = nullptr;  // rows of one stand together
  for (const RowRuns& row : rows) {
    if (setting != nullptr && *setting != row.key.setting) add_differing();
    setting = &row.key.setting;
    for (const auto& [name, value] : row.summary().algorithm_parameters) {
      if (!was_given(row, name)) parameters[name][unquoted(value)].insert(row.key.label);
    }
  }
  add_differing();
  if (differing.empty()) return {};
  return {fmt::format("parameters of one name differ between algorithms: {}", fmt::join(differing, "; "))};
}

// The seeds of a row by what a note says of their builds, or devices, and by which ones these are.
using Machines = std::map<std::string, std::map<std::string, std::vector<std::int64_t>>, NaturalOrder>;

// A text of an object; empty where it lacks it.
std::string text_at(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void add_machine(const FoundRun& run, Machines& machines) {
  const Summary& summary = *run.summary;
  Json environment;
  try {
    environment = read_environment(run.path);
  } catch (const Error&) {  // what shows environments names it
    return;
  }
  const auto add = [&](const std::string& what, const std::string& which) {
    if (which.empty()) return;
    std::vector<std::int64_t>& seeds = machines[what][which];
    if (!contains(seeds, summary.seed)) seeds.push_back(summary.seed);
  };
  const auto add_build = [&](const Json& build) {
    const std::string what = "were run by different builds of ";
    add(what + "fedarena", text_at(build, "program_sha256"));
    const Json plugin = plugin_of(build, summary.algorithm);
    add(what + "the plugin " + text_at(plugin, "name"), text_at(plugin, "sha256"));
  };
  add_build(environment);
  // Those that went on with the run.
  const auto later = environment.find("builds");
  if (later != environment.end() && later->is_array()) std::ranges::for_each(*later, add_build);
  const std::string device = text_at(environment, "device"), gpu = text_at(environment, "gpu");
  add("were trained on different devices", device.empty() || gpu.empty() ? device : gpu);
}

// Rows that take means over seeds that different builds of fedarena, or of the algorithm's plugin, ran, or
// that were trained on different devices. Runs that do not say are left out.
std::vector<std::string> machine_notes(std::span<const RowRuns> rows) {
  std::vector<std::string> notes;
  for (const RowRuns& row : rows) {
    Machines machines;
    for (const FoundRun* run : row.runs) add_machine(*run, machines);
    for (const auto& [what, seeds_of] : machines) {
      if (seeds_of.size() < 2) continue;
      std::vector<std::string> texts;
      for (const auto& [which, seeds] : seeds_of)
        texts.push_back(fmt::format("{} ({})", seeds_text(seeds),
                                    is_sha256(which) ? "SHA-256 " + short_hash(which) : which));
      notes.push_back(fmt::format("{}: its seeds {}: {}", row.name, what, fmt::join(texts, "; ")));
    }
  }
  return notes;
}

std::vector<std::string> partition_notes(std::span<const RowRuns> rows) {
  std::map<std::pair<std::string, std::string>, IndexHashes, NaturalOrder> partitions;
  for_each_run(rows, [&](const RowRuns&, const Summary& summary) {
    partitions[{summary.dataset, brief_partition_id(summary)}][summary.seed].insert(summary.partition_hash);
  });
  std::vector<std::string> notes;
  const std::map<std::string, std::string> brief = brief_datasets(rows);
  for (const auto& [partition, hashes] : partitions) {
    notes.push_back(fmt::format("partition of {}: {}: {}", brief.at(partition.first), partition.second,
                                index_hashes_text(hashes, " index hash ")));
  }
  return notes;
}

std::vector<std::string> stopping_notes(std::span<const RowRuns> rows) {
  std::vector<std::string> notes;
  for (const auto& [rule, text] :
       {std::pair(kStoppedByTarget, "stopped at the target of validation accuracy"),
        std::pair(kStoppedByPatience, "stopped without a better validation score")}) {
    std::vector<std::string> stopped;
    for_each_run(rows, [&, by = rule](const RowRuns& row, const Summary& summary) {
      if (summary.stopped != by) return;
      stopped.push_back(fmt::format("{}, seed {} (round {} of {})", row.name, summary.seed,
                                    summary.rounds_done, summary.rounds));
    });
    std::ranges::sort(stopped, natural_less);
    if (!stopped.empty()) notes.push_back(fmt::format("{}: {}", text, fmt::join(stopped, "; ")));
  }
  return notes;
}

}  // namespace

std::vector<std::string> row_notes(std::span<const RowRuns> rows) {
  std::vector<std::string> notes;
  for (const std::vector<std::string>& some :
       {divergence_notes(rows), alike_notes(rows, untested_note), personal_notes(rows),
        alike_notes(rows, held_out_note), parameter_notes(rows), dataset_notes(rows), data_notes(rows),
        machine_notes(rows), partition_notes(rows), stopping_notes(rows), tuning_notes(rows)})
    append_notes(notes, some);
  return notes;
}

std::vector<std::string> interval_notes(std::span<const RowRuns> rows) {
  std::vector<std::string> single;
  for (const RowRuns& row : rows) {
    if (row.runs.size() == 1) single.push_back(row.name);
  }
  if (single.empty()) return {};
  if (single.size() == rows.size()) return {"one seed has no interval: every row shows its value alone"};
  return {fmt::format("one seed has no interval: {}", fmt::join(single, "; "))};
}

std::vector<std::string> unlike_attacks_notes(const std::map<std::string, std::vector<std::string>>& runs) {
  if (runs.size() < 2) return {};
  std::vector<std::string> texts;
  for (const auto& [examples, paths] : runs) {
    const std::string others = paths.size() == 1 ? "" : fmt::format(" and {} more", paths.size() - 1);
    texts.push_back(fmt::format("{} in {}{}", examples, paths.front(), others));
  }
  return {
      fmt::format("attacks were on different examples, which intervals over seeds and differences do not "
                  "allow for: {}",
                  fmt::join(texts, "; "))};
}

std::string broken_note(const FoundRun& run) {
  return fmt::format("{}: {}; not counted", run.path.string(), run.problem);
}

std::vector<std::string> not_counted(const Rows& rows,
                                     const std::function<std::string(const FoundRun&)>& name_of) {
  std::vector<std::string> notes, broken;
  for (const FoundRun* run : rows.unfinished) {
    const Summary& summary = *run->summary;
    const std::string rounds = fmt::format("{} of {} rounds", summary.rounds_done, summary.rounds);
    notes.push_back(summary.state == kFailed
                        ? fmt::format("{}: seed {} failed after {} and is not counted: {}", name_of(*run),
                                      summary.seed, rounds, one_line(summary.failure))
                        : fmt::format("{}: seed {} is unfinished ({}) and not counted", name_of(*run),
                                      summary.seed, rounds));
  }
  for (const FoundRun* run : rows.broken) broken.push_back(broken_note(*run));
  std::ranges::sort(broken, natural_less);
  append_notes(notes, broken);
  return notes;
}

std::string index_hashes_text(const IndexHashes& hashes, std::string_view between) {
  std::vector<std::string> texts;
  for (const auto& [seed, found] : hashes) {
    texts.push_back(fmt::format("seed {}{}{}", seed, between, fmt::join(found, " and ")));
    if (found.size() > 1) texts.back() += " (runs of this seed do not share a partition)";
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string brief_partition_id(const Summary& summary) {
  const std::string& id = summary.partition_id;
  const std::string ending = fmt::format(",seed={})", summary.seed);
  if (!id.ends_with(ending)) return id;
  return id.substr(0, id.size() - ending.size()) + ",seed=...)";
}

}  // namespace fedarena::results
