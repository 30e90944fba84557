// What is written around a table: its caption and its legend.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/table/column_selection.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

std::string results_sentence(const Table& table) {
  std::string results = !any_regression(table) ? "Accuracy"
                        : !any_accuracy(table) ? "RMSE (root mean squared error)"
                                               : "Accuracy and RMSE (root mean squared error)";
  results = table.metric ? describe(*table.metric) : results + " after the last round";
  if (table.plus_minus == PlusMinus::kHalfWidth)
    return results + ": mean ± half-width of its 95 % interval (Student's t) over seeds.";
  return results + ": mean ± sample standard deviation over seeds.";
}

// What was counted while a run computed.
std::vector<std::string> count_sentences(const Selection& selection) {
  std::vector<std::string> sentences;
  if (shows(selection, Shown::kExamples)) {
    sentences.emplace_back(
        "Examples: gradients that the oracle took of clients' examples, one for each time an example is "
        "used.");
  }
  if (shows(selection, Shown::kGradients)) {
    sentences.emplace_back(
        "Gradients: of single examples, clients' and public or synthetic ones, as the harness took them.");
  }
  if (shows(selection, Shown::kOperations)) {
    sentences.emplace_back(
        "Operations: floating-point, of gradients, second derivatives and losses, counted from the model "
        "(multiplications and additions of convolutions and affine maps); ≥: a plugin computed more by "
        "itself.");
  }
  return sentences;
}

// "Uplink and downlink: TAIL", or one of the two, whose name then begins the sentence.
void say_pair(std::string& text, bool first, bool second, const std::string& first_name,
              std::string second_name, const std::string& tail) {
  if (!first && !second) return;
  if (!first) second_name.front() = static_cast<char>(second_name.front() - 'a' + 'A');
  text += text.empty() ? "" : " ";
  text += (first ? first_name : "") + (first && second ? " and " : "") + (second ? second_name : "");
  text += ": " + tail;
}

void say_clients(const Table& table, const std::function<void(const std::string&)>& say) {
  const auto any = [&](std::optional<Spread> ClientColumns::*member) {
    return std::ranges::any_of(table.rows, [&](const Row& row) {
      return row.clients_tested && (*row.clients_tested.*member).has_value();
    });
  };
  if (any(&ClientColumns::accuracy)) {
    say("Clients: the mean over clients of the accuracy on each one's own test examples, and the least of "
        "any; BMTA and BMT-F1: the largest mean of accuracy and of macro F1 over all rounds, hence chosen on "
        "test examples.");
  }
  if (any(&ClientColumns::rmse)) {
    say("Clients (RMSE): the mean over clients of the RMSE on each one's own test examples, and the largest "
        "of any.");
  }
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
      return std::all_of(table.rows.begin(), table.rows.end(),
                         [&](const Row& row) { return text_of(row) == text_of(first); });
    };
    if (shared(whole)) {
      add(part.name, whole(first));
    } else if (shared(rest)) {
      add(part.name, rest(first));
    }
  }
  const std::vector<std::string> columns = swept_keys(table);
  for (const auto& [path, value] : first.setting.sweep) {
    if (std::find(columns.begin(), columns.end(), path) == columns.end()) add(path, value);
  }
  if (!text.empty()) text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return one_line(text);
}

std::string legend(const Table& table, const Selection& selection) {
  const auto shown = [&](Shown column) { return shows(selection, column); };
  std::string text;
  const auto say = [&](const std::string& sentence) { text += (text.empty() ? "" : " ") + sentence; };
  if (shown(Shown::kResult)) say(results_sentence(table));
  if (shown(Shown::kResult) && any_published(table))
    say("Published: the figures of others, as the notes say; ± as they have it.");
  if (shown(Shown::kClients)) say_clients(table, say);
  if (shown(Shown::kEpsilon) && any_private(table)) {
    say("Epsilon: upper bound, rounded up, the largest over seeds.");
  }
  const std::vector<std::string> counts = count_sentences(selection);
  for (const std::string& sentence : counts) say(sentence);
  if (!counts.empty()) say("These are sums over a run, evaluation left out; k, M, G, T, P: 10^3 to 10^15.");
  say_pair(text, shown(Shown::kUplink), shown(Shown::kDownlink), "Uplink", "downlink",
           "bytes per client and round.");
  say_pair(text, shown(Shown::kTotalUplink), shown(Shown::kTotalDownlink), "Total uplink", "total downlink",
           "bytes of all clients in a run.");
  if (shown(Shown::kSeconds)) say("Seconds: per run.");
  return text;
}

}  // namespace fedarena::results
