// What is written around a table: its caption and its legend.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"

#include "results/table/column_selection.hpp"
#include "results/table/notes.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

std::string results_sentence(const Table& table) {
  const std::string accuracy = describe(known_quantity("accuracy")), rmse = describe(known_quantity("rmse"));
  std::string results = !any_regression(table) ? accuracy
                        : !any_accuracy(table) ? rmse
                                               : accuracy + " and " + rmse;
  results = table.metric ? describe(*table.metric) : results + " after the last round";
  if (table.plus_minus == PlusMinus::kHalfWidth)
    return results + ": mean ± half-width of its 95 % interval (Student's t) over seeds.";
  return results + ": mean ± sample standard deviation over seeds.";
}

}  // namespace

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
  const std::vector<std::string> columns = swept_keys(table);
  for (const auto& [path, value] : first.setting.sweep) {
    if (!contains(columns, path)) add(path, value);
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
  say(shown(TableColumn::kResult) && any_has(table, &Row::published),
      "Published: the figures of others, as the notes say; ± as they have it.");
  // Beside a metric of another round.
  const std::string when = table.metric ? " after the last round" : "";
  say(tested("client-accuracy"),
      "Clients" + when +
          ": the mean over clients of the accuracy on each one's own test examples, and the least of any; "
          "BMTA and BMT-F1: the largest mean of accuracy and of macro F1 over all rounds, hence chosen on "
          "test examples.");
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
      "\"-\": what would tell the sizes of samples, which privacy keeps secret.");
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
