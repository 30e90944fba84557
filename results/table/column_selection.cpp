#include "results/table/column_selection.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "results/measures/catalogue.hpp"
#include "results/record/json_fields.hpp"
#include "results/table/notes.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// In the order of TableColumn.
constexpr std::array<const char*, 19> kNames = {
    "rounds", "seeds",     "accuracy",     "clients",        "epsilon",  "epsilon-rdp", "epsilon-pld",
    "noise",  "clip-norm", "attacks",      "attack-rates",   "examples", "gradients",   "operations",
    "uplink", "downlink",  "total-uplink", "total-downlink", "seconds"};

TableColumn parse_column(const std::string& name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<TableColumn>(found - kNames.begin());
  throw unknown_name(fmt::format("--columns: \"{}\" is unknown", name), name, column_names());
}

// In one spelling.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    letters += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

void add_fields(const Json& record, std::set<std::string>& names) {
  for (const auto& [name, value] : record.items()) {
    names.insert(plain(name));
    if (value.is_object()) add_fields(value, names);
  }
}

// What tables, exports and records call their own.
std::set<std::string> own_names() {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    for (const std::string_view name : {entry.name, entry.field, entry.column}) names.insert(plain(name));
  }
  for (const std::string& name : column_names()) names.insert(plain(name));
  add_fields(to_json(RoundRecord{}), names);
  Json summary = to_json(Summary{});
  append_privacy(summary, PrivacyClaim{});
  add_fields(summary, names);
  return names;
}

// What clients do in a round. Where there are steps, they are in place of epochs.
constexpr std::array<const char*, 4> kLocalWork = {"rate", "batch_size", "local_epochs", "local_steps"};

// What all rows have; none where they differ, or have none.
template <typename TextOf>
std::optional<std::string> shared_text(const Table& table, const TextOf& text_of) {
  std::set<std::string> texts;
  for (const Row& row : table.rows) texts.insert(row.seeds.empty() ? "" : text_of(row));
  return texts.size() == 1 && !texts.begin()->empty() ? std::optional(*texts.begin()) : std::nullopt;
}

// That parameter of the algorithms, where all rows have the same.
std::optional<std::string> shared_parameter(const Table& table, const std::string& name) {
  return shared_text(table, [&](const Row& row) {
    return swept_value(row.summary().algorithm_parameters, name).value_or("");
  });
}

// How many, where the partition does not say it.
std::string clients_unsaid(const Row& row) {
  return row.setting.partition.starts_with("by-user") ? std::to_string(row.summary().clients) : "";
}

std::string results_sentence(const Table& table) {
  const std::string accuracy = known_quantity("accuracy").words, rmse = known_quantity("rmse").words;
  std::string results = !any_regression(table) ? accuracy
                        : !any_accuracy(table) ? rmse
                                               : accuracy + " and " + rmse;
  results = table.metric ? describe(*table.metric) : results + " after the last round";
  if (table.plus_minus == PlusMinus::kHalfWidth)
    return results + ": mean ± half-width of its 95 % interval (Student's t) over seeds.";
  return results + ": mean ± sample standard deviation over seeds.";
}

}  // namespace

bool is_reserved(std::string_view name) {
  static const std::set<std::string> kOwnNames = own_names();
  const std::string asked = plain(name);
  return asked.find("epsilon") != std::string::npos || find_quantity(asked) || kOwnNames.contains(asked);
}

std::vector<std::string> column_names() { return {kNames.begin(), kNames.end()}; }

Selection parse_selection(const std::string& text) {
  Selection selection;
  for (const std::string_view part : split_at_commas(text)) {
    const std::string name(part);
    const TableColumn column = parse_column(name);
    if (shows(selection, column))
      throw Error(Complaint{.found = fmt::format("--columns: \"{}\" is named twice", name),
                            .allowed = join_names(column_names())});
    selection.push_back(column);
  }
  return selection;
}

Selection default_selection(const Table& table) {
  Selection selection = {TableColumn::kSeeds, TableColumn::kResult};
  const auto says_rounds = [](const Row& row) {
    return swept_value(row.setting.sweep, kRoundsPath) == rounds_done(row);
  };
  if (!contains(swept_keys(table), kRoundsPath) || !std::ranges::all_of(table.rows, says_rounds))
    selection.insert(selection.begin(), TableColumn::kRounds);
  const auto tells_of_clients = [](const Row& row) { return !row.clients_tested.empty(); };
  if (std::ranges::any_of(table.rows, tells_of_clients)) selection.push_back(TableColumn::kClients);
  selection.push_back(TableColumn::kEpsilon);
  if (!attack_scores(table).empty()) selection.push_back(TableColumn::kAttacks);
  for (const TableColumn column : {TableColumn::kUplink, TableColumn::kDownlink, TableColumn::kSeconds}) {
    selection.push_back(column);
  }
  return selection;
}

bool shows(const Selection& selection, TableColumn column) { return contains(selection, column); }

std::string caption(const Table& table) {
  std::string text;
  if (table.rows.empty()) return text;
  const Row& first = table.rows.front();
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  };
  for (const SettingPart& part : kSettingParts) {
    if (varies(table, part)) continue;
    const auto whole = [&](const Row& row) { return row.setting.*part.member; };
    const auto rest = [&](const Row& row) {
      return without_swept(row.setting.*part.member, row.setting.sweep, part.section);
    };
    const auto shared = [&](const auto& text_of) {
      return std::ranges::all_of(table.rows, [&](const Row& row) { return text_of(row) == text_of(first); });
    };
    if (shared(whole)) {
      add(part.name, whole(first));
    } else if (shared(rest)) {
      add(part.name, rest(first));
    }
  }
  if (const auto clients = shared_text(table, clients_unsaid)) add("clients", *clients);
  const std::vector<std::string> columns = swept_keys(table);
  for (const auto& [path, value] : first.setting.sweep) {
    if (!contains(columns, path)) add(path, value);
  }
  for (const char* const path : {"cohort.size", "cohort.fraction"}) {
    const auto part = shared_text(table, [&](const Row& row) {
      const auto found = row.conditions.find(path);
      return found == row.conditions.end() || swept_value(row.setting.sweep, path) ? "" : found->second;
    });
    if (part && parse_number<double>(*part).value_or(0) > 0) add(path, *part);
  }
  const bool in_steps = std::ranges::any_of(table.rows, [](const Row& row) {
    return !row.seeds.empty() &&
           swept_value(row.summary().algorithm_parameters, "local_steps").value_or("0") != "0";
  });
  for (const std::string name : kLocalWork) {
    if (name == (in_steps ? "local_epochs" : "local_steps")) continue;
    if (const auto value = shared_parameter(table, name)) add(name, plain_value(*value));
  }
  if (!text.empty()) text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return one_line(text);
}

std::string legend(const Table& table, const Selection& selection) {
  std::vector<std::string> sentences;
  const auto shown = [&](TableColumn column) { return shows(selection, column); };
  const auto say = [&](bool needed, std::string sentence) {
    if (needed) sentences.push_back(std::move(sentence));
  };
  const auto tested = [&](const char* name) {
    return shown(TableColumn::kClients) && std::ranges::any_of(table.rows, [&](const Row& row) {
             return row.clients_tested.contains(find_entry(name));
           });
  };
  // "Uplink and downlink: TAIL", or one of the two.
  const auto say_pair = [&](TableColumn first, TableColumn second, std::array<const char*, 3> names,
                            const char* tail) {
    const std::size_t name = shown(first) && shown(second) ? 0 : shown(first) ? 1 : 2;
    say(shown(first) || shown(second), fmt::format("{}: bytes {}.", names[name], tail));
  };
  say(shown(TableColumn::kResult), results_sentence(table));
  say(shown(TableColumn::kResult) && std::ranges::any_of(table.rows, &Row::best),
      "Bold: the best mean of its setting, which is no test of significance.");
  say(shown(TableColumn::kResult) && any_has(table, &Row::published),
      "Published: the figures of others, as the notes say; ± as they have it.");
  // Beside a metric of another round.
  const std::string when = table.metric ? " after the last round" : "";
  say(tested("client-accuracy"),
      "Clients" + when +
          ": the mean over clients of the accuracy on each one's own test examples, and the least of any; "
          "BMTA and BMT-F1: the largest mean of accuracy and of macro F1 of any round that was evaluated, "
          "hence chosen on test examples.");
  say(tested("client-rmse"),
      "Clients (RMSE)" + when +
          ": the mean over clients of the RMSE on each one's own test examples, and the largest of any.");
  const bool one_accountant = shown(TableColumn::kEpsilonRdp) || shown(TableColumn::kEpsilonPld);
  const std::string of = shown(TableColumn::kEpsilon) ? "" : shared_terms(table);
  say((shown(TableColumn::kEpsilon) || one_accountant) && any_has(table, &Row::privacy),
      fmt::format("Epsilon{}: upper bound, rounded up, of a single run, the largest over seeds{}.", of,
                  table.metric && table.metric->moment != Moment::kLast
                      ? ", of the whole run and not of the round that is read"
                      : ""));
  say((shown(TableColumn::kAttacks) || shown(TableColumn::kAttackRates)) && !attack_scores(table).empty(),
      "AUC of an attack on membership: how often a training example has a higher score than another; 0.5 is "
      "chance, and no evidence for a guarantee.");
  say(shown(TableColumn::kExamples),
      "Examples: gradients that the oracle took of clients' examples, one for each time an example is used.");
  say(shown(TableColumn::kGradients),
      "Gradients: of single examples, clients' and public or synthetic ones, as the harness took them.");
  say(shown(TableColumn::kOperations),
      "Operations: floating-point, of gradients, second derivatives and losses, counted from the model "
      "(multiplications and additions of convolutions and affine maps); ≥: a plugin computed more by "
      "itself.");
  say(shown(TableColumn::kExamples) || shown(TableColumn::kGradients) || shown(TableColumn::kOperations),
      "These are sums over a run, evaluation left out; k, M, G, T, P: 10^3 to 10^15.");
  const bool batches = shown(TableColumn::kExamples) || shown(TableColumn::kGradients) ||
                       shown(TableColumn::kOperations) || shown(TableColumn::kSeconds);
  const bool totals = shown(TableColumn::kTotalUplink) || shown(TableColumn::kTotalDownlink);
  say(std::ranges::any_of(table.rows,
                          [&](const Row& row) {
                            const bool no_mean = (shown(TableColumn::kUplink) && !row.uplink_bytes) ||
                                                 (shown(TableColumn::kDownlink) && !row.downlink_bytes);
                            return (batches && is_secret(DrawnSizes::kBatches, row.privacy)) ||
                                   ((totals || no_mean) && is_secret(DrawnSizes::kCohorts, row.privacy));
                          }),
      "\"-\" of bytes, examples, gradients, operations or seconds: what would tell the sizes of samples, "
      "which privacy keeps secret.");
  say(shown(TableColumn::kNoise),
      "Noise multiplier: the standard deviation of the noise, or the scale of Laplace noise, in clip norms.");
  say_pair(TableColumn::kUplink, TableColumn::kDownlink, {"Uplink and downlink", "Uplink", "Downlink"},
           "per client and round");
  say_pair(TableColumn::kTotalUplink, TableColumn::kTotalDownlink,
           {"Total uplink and total downlink", "Total uplink", "Total downlink"}, "of all clients in a run");
  say(shown(TableColumn::kSeconds), "Seconds: per run.");
  say(shown(TableColumn::kRounds) && std::ranges::any_of(table.rows, is_stopped_early),
      fmt::format("{}: stopped early, as a note says.", kStoppedMark));
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace fedarena::results
