#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "results/audit/privacy_report.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/tuning.hpp"
#include "results/table/tuning_text.hpp"
#include "results/text/epsilon_number.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// "0-4, 7"
std::string ranges(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string range(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string claim_text(const std::optional<Claim>& claim) {
  if (!claim) return "none";
  if (!claim->epsilon) return fmt::format("unproven: {}", claim->unproven);
  return epsilon_number(*claim->epsilon);
}

std::string order_text(double order) {
  if (order == 0) return "-";
  return std::isinf(order) ? "pure" : fmt::format("{}", order);
}

std::string rdp_details(const PrivacyClaim& claim) {
  const std::string choices =
      fmt::format("orders {}, conversion {}", claim.settings.orders, claim.settings.conversion);
  if (claim.order == 0) return fmt::format(" ({})", choices);
  if (std::isinf(claim.order)) return " (the sum of pure epsilons)";
  return fmt::format(" at order {} ({})", order_text(claim.order), choices);
}

std::string unit_text(const PrivacyClaim& claim) {
  std::string text = claim.unit == "record" ? "one example of one client" : "all that one client holds";
  if (claim.adjacency == "add-remove") text += "; neighbours: one more or less (add-remove)";
  if (claim.adjacency == "replace-one") text += "; neighbours: one exchanged for another (replace-one)";
  return text;
}

// The part of a kind of access in the epsilon of its group.
std::string part_text(double part) {
  if (std::isnan(part)) return "";
  if (std::isinf(part)) return "infinite";
  return fmt::format("{:.1f} %", 100 * part);
}

void line(std::string& text, const std::string& head, const std::string& tail) {
  text += fmt::format("{:<12}{}\n", head, one_line(tail));
}

void worst_case_lines(std::string& text, const PrivacyReport& report) {
  const std::int64_t most = report.summary.privacy->most_accesses;
  if (most == 0) return;
  const std::string bound = fmt::format("{} gradients of a client's examples in a round", most);
  if (!report.worst_rdp) return line(text, "at most", bound + ", and all were asked for");
  line(text, "at most", bound + "; had all been asked for, epsilon would be");
  line(text, "", claim_text(report.worst_rdp) + " by RDP");
  line(text, "", claim_text(report.worst_pld) + " by PLD");
}

std::string client_table(const PrivacyReport& report) {
  const bool claims = report.summary.privacy.has_value();
  std::vector<std::vector<std::string>> rows = {{"clients", "examples", "rounds"}};
  if (claims) rows.front().insert(rows.front().end(), {"epsilon (RDP)", "order"});
  for (const ClientGroup& group : report.groups) {
    rows.push_back({clients_text(group), range(group.examples_least, group.examples_most),
                    fmt::format("{}", group.rounds)});
    if (!claims) continue;
    const bool proven = group.rdp && group.rdp->epsilon;
    rows.back().push_back(proven ? epsilon_number(*group.rdp->epsilon) : "unproven");
    rows.back().push_back(order_text(group.order));
  }
  return aligned_lines(rows, {false, true, true, true, true});
}

std::string event_table(const PrivacyReport& report, const ClientGroup& group) {
  std::string text = group.clients.empty()
                         ? "What happened to the data of all clients"
                         : fmt::format("What happened to the data of client{} {}",
                                       group.clients.size() == 1 ? "" : "s", ranges(group.clients));
  if (report.summary.privacy && std::isfinite(group.order) && group.order > 0) {
    text += fmt::format(" (share of the Rényi divergence at order {})", order_text(group.order));
  }
  text += ":\n";
  if (group.events.empty()) return text + "  nothing\n";
  std::vector<std::size_t> widths(2, 0);
  for (const EventShare& kind : group.events) {
    widths[0] = std::max(widths[0], fmt::format("{}", kind.count).size());
    widths[1] = std::max(widths[1], part_text(kind.part).size());
  }
  for (const EventShare& kind : group.events) {
    text += fmt::format("  {} x  ", padded(fmt::format("{}", kind.count), widths[0], true));
    if (widths[1] > 0) text += padded(part_text(kind.part), widths[1], true) + "  ";
    text += one_line(describe(kind.event)) + "\n";
  }
  return text;
}

std::string plugin_text(const PrivacyReport& report) {
  return report.plugin.empty()
             ? fmt::format("algorithm {}", report.summary.algorithm)
             : fmt::format("algorithm {} of plugin {}", report.summary.algorithm, report.plugin);
}

std::string exact_text(const PrivacyReport& report) {
  std::string text = fmt::format("Exact accesses by {}, which make epsilon infinite:\n", plugin_text(report));
  for (const ExactFinding& exact : report.exact) {
    text += fmt::format("  {}, round{} {}: {}, {} time{}\n",
                        exact.client ? fmt::format("client {}", *exact.client) : "all clients",
                        exact.first_round == exact.last_round ? "" : "s",
                        range(exact.first_round, exact.last_round), one_line(exact.access), exact.count,
                        exact.count == 1 ? "" : "s");
  }
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> claim_lines(const PrivacyClaim& claim) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"hides", unit_text(claim)},
      {"epsilon", claim_text(claim.rdp) + " by RDP" + rdp_details(claim)},
      {"", claim_text(claim.pld) + " by PLD"},
      {"delta", short_number(claim.settings.delta)}};
  if (claim.as_if_rdp) {
    lines.emplace_back("as if", claim_text(claim.as_if_rdp) +
                                    " by RDP, of the larger population that the noise was rescaled for");
    lines.emplace_back("", claim_text(claim.as_if_pld) + " by PLD");
  }
  lines.emplace_back("assumes", claim.assumed ? "that samples of a fixed size are Poisson samples, which "
                                                "nobody has proven right"
                                              : "nothing that is unproven");
  if (!claim.declared_public.empty()) {
    lines.emplace_back("public",
                       "each client's " + claim.declared_public + ", because the experiment declares it");
  }
  if (claim.budget > 0) {
    lines.emplace_back(
        "budget", epsilon_number(claim.budget) +
                      (claim.stopped.empty() ? "" : ", which stopped the run before its planned rounds"));
  }
  return lines;
}

std::string clients_text(const ClientGroup& group) {
  return group.clients.empty() ? "all" : ranges(group.clients);
}

std::string render_text(const PrivacyReport& report) {
  const Summary& summary = report.summary;
  std::string text;
  line(text, "run",
       fmt::format("{}: {}, seed {}, {}, {} of {} rounds", report.path.string(), summary.label, summary.seed,
                   summary.state, summary.rounds_done, summary.rounds));
  line(text, "policy", summary.policy);
  if (summary.privacy) {
    for (const auto& [head, tail] : claim_lines(*summary.privacy)) line(text, head, tail);
    worst_case_lines(text, report);
    if (summary.tuning) line(text, "tuning", trials_text(summary.tuning) + ", which epsilon does not cover");
  } else {
    line(text, "epsilon", "none: the policy is none, so the run hides nobody's data and makes no claim");
  }
  if (!report.exact.empty()) text += fmt::format("\n{}", exact_text(report));
  text += fmt::format("\n{}", client_table(report));
  for (const ClientGroup& group : report.groups) text += fmt::format("\n{}", event_table(report, group));
  return text;
}

std::string render_json(const PrivacyReport& report) {
  const Summary& summary = report.summary;
  Json json;
  json["run"] = report.path.generic_string();
  json["label"] = summary.label;
  json["algorithm"] = summary.algorithm;
  json["plugin"] = report.plugin.empty() ? Json(nullptr) : Json(report.plugin);
  json["seed"] = summary.seed;
  json["state"] = summary.state;
  json["rounds_done"] = summary.rounds_done;
  json["rounds"] = summary.rounds;
  json["policy"] = summary.policy;
  if (summary.privacy) append_privacy(json, *summary.privacy);
  if (summary.tuning) append_tuning(json, *summary.tuning);
  if (summary.privacy) {
    json["worst_case_epsilon_rdp"] = json_epsilon(report.worst_rdp);
    json["worst_case_epsilon_pld"] = json_epsilon(report.worst_pld);
  }
  json["exact_accesses"] = Json::array();
  for (const ExactFinding& exact : report.exact) {
    Json entry;
    entry["client"] = exact.client ? Json(*exact.client) : Json("all");
    entry["first_round"] = exact.first_round;
    entry["last_round"] = exact.last_round;
    entry["access"] = exact.access;
    entry["count"] = exact.count;
    json["exact_accesses"].push_back(std::move(entry));
  }
  json["groups"] = Json::array();
  for (const ClientGroup& group : report.groups) {
    Json entry;
    entry["clients"] = group.clients.empty() ? Json("all") : Json(group.clients);
    entry["examples_least"] = group.examples_least;
    entry["examples_most"] = group.examples_most;
    entry["rounds"] = group.rounds;
    entry["epsilon_rdp"] = json_epsilon(group.rdp);
    entry["order"] = json_number(group.order);
    entry["events"] = Json::array();
    for (const EventShare& kind : group.events) {
      Json event;
      event["event"] = describe(kind.event);
      event["count"] = kind.count;
      event["share"] = std::isnan(kind.part) ? Json(nullptr) : json_number(kind.part);
      entry["events"].push_back(std::move(event));
    }
    json["groups"].push_back(std::move(entry));
  }
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
