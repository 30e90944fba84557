#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/text.hpp"

#include "results/audit/privacy_report.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/record_form.hpp"
#include "results/record/sweep.hpp"
#include "results/table/notes.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// The part of a kind of access in the epsilon of its group.
std::string part_text(double part) {
  if (std::isnan(part)) return "";
  if (std::isinf(part)) return "infinite";
  return fmt::format("{:.1f} %", 100 * part);
}

void line(std::string& text, const std::string& head, const std::string& tail) {
  text += fmt::format("{:<12}{}\n", head, one_line(tail));
}

std::string client_table(const PrivacyReport& report) {
  const bool claims = report.summary.privacy.has_value();
  std::vector<std::vector<std::string>> rows = {{"clients", "examples", "rounds"}};
  if (claims) rows.front().insert(rows.front().end(), {"epsilon (RDP)", "order"});
  for (const ClientGroup& group : report.groups) {
    rows.push_back({clients_text(group), range_text(group.examples_least, group.examples_most),
                    fmt::format("{}", group.rounds)});
    if (!claims) continue;
    rows.back().push_back(claim_text(group.rdp, epsilon_number));
    rows.back().push_back(order_text(group.order));
  }
  return aligned_lines(rows, {false, true, true, true, true});
}

// Records are asked for votes; nothing else is a Gaussian on all of a shard.
std::string event_text(const PrivacyReport& report, const Event& event) {
  const bool votes = report.summary.privacy && report.summary.privacy->unit == name(Unit::kRecord) &&
                     std::holds_alternative<Gaussian>(event);
  return one_line((votes ? "vote: " : "") + describe(event));
}

std::string event_table(const PrivacyReport& report, const ClientGroup& group) {
  // More than what happened where not all of a plan was made.
  const bool planned = report.summary.privacy && report.summary.privacy->made_rdp;
  std::string text = group.by_budget ? "What was asked for, or planned, of the data of "
                     : planned       ? "What is charged for the data of "
                                     : "What happened to the data of ";
  text += group.clients.empty()
              ? "all clients"
              : fmt::format("{} {}", group.clients.size() == 1 ? "client" : "clients", clients_text(group));
  if (group.by_budget) text += ", charged by the budget";
  if (report.summary.privacy && std::isfinite(group.order) && group.order > 0) {
    text += fmt::format(" (share of the Rényi divergence at order {})", order_text(group.order));
  }
  text += ":\n";
  if (group.events.empty()) return text + "  nothing\n";
  const bool shares =
      std::ranges::any_of(group.events, [](const EventShare& kind) { return !part_text(kind.part).empty(); });
  std::vector<std::vector<std::string>> rows;
  for (const EventShare& kind : group.events) {
    rows.push_back({"", fmt::format("{} x", kind.count)});
    if (shares) rows.back().push_back(part_text(kind.part));
    rows.back().push_back(event_text(report, kind.event));
  }
  return text + aligned_lines(rows, {false, true, shares});
}

// What and how often is not told: nobody plans it, so that examples may decide it.
constexpr const char* kKept =
    "Clients looked at their examples for models of their own, which is not charged, because nothing of it "
    "is "
    "sent.\n";

std::string plugin_text(const PrivacyReport& report) {
  return report.plugin.empty()
             ? fmt::format("algorithm {}", report.summary.algorithm)
             : fmt::format("algorithm {} of plugin {}", report.summary.algorithm, report.plugin);
}

std::string exact_text(const PrivacyReport& report) {
  constexpr std::size_t kMost = 20;
  std::string text = fmt::format("Exact accesses by {}, which make epsilon infinite:\n", plugin_text(report));
  for (const ExactFinding& exact : std::span(report.exact).first(std::min(report.exact.size(), kMost))) {
    const bool one_round = exact.first_round == exact.last_round;
    text += fmt::format("  {}, {} {}: {}, {}\n", who(exact), one_round ? "round" : "rounds",
                        range_text(exact.first_round, exact.last_round), one_line(exact.access),
                        counted(exact.count, "time"));
  }
  if (report.exact.size() > kMost)
    text += fmt::format("  and {} more, which --format json lists\n", report.exact.size() - kMost);
  const auto has_epsilon = [](const ClientGroup& group) { return is_finite(group.rdp); };
  if (std::ranges::any_of(report.groups, has_epsilon))
    text += fmt::format("Epsilons of other clients are {}.\n", kOthersExactNote);
  return text;
}

}  // namespace

std::string clients_text(const ClientGroup& group) {
  constexpr std::size_t kLongest = 120;
  const std::vector<std::int64_t>& clients = group.clients;
  if (clients.empty()) return "all";
  std::string text;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const std::int64_t first = clients[i];
    while (i + 1 < clients.size() && clients[i + 1] == clients[i] + 1) ++i;
    const std::string range = range_text(first, clients[i]);
    if (text.size() + range.size() > kLongest)
      return fmt::format("{}, ... ({} clients)", text, clients.size());
    text += (text.empty() ? "" : ", ") + range;
  }
  return text;
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
    if (summary.audit) line(text, "audit", audit_text(*summary.audit));
    if (audit_contradicts(summary)) line(text, "", contradiction_text(*summary.audit, *summary.privacy));
    if (summary.tuning) line(text, "tuning", trials_text(summary.tuning) + ", which epsilon does not cover");
  } else {
    line(text, "epsilon", "none: the policy is none, so the run hides nobody's data and makes no claim");
  }
  if (!report.exact.empty()) text += fmt::format("\n{}", exact_text(report));
  text += fmt::format("\n{}", client_table(report));
  for (const ClientGroup& group : report.groups) text += fmt::format("\n{}", event_table(report, group));
  if (report.keeps) text += fmt::format("\n{}", kKept);
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
  if (summary.audit) {
    json["audit"] = json_of_record(*summary.audit, form_audit);
    json["audit_contradicts"] = audit_contradicts(summary);
  }
  if (summary.tuning) {
    append_tuning(json, *summary.tuning, !is_secret(DrawnSizes::kBatches, summary.privacy));
  }
  json["exact_accesses"] = Json::array();
  for (const ExactFinding& exact : report.exact) {
    json["exact_accesses"].push_back({{"client", exact.client ? Json(*exact.client) : Json("all")},
                                      {"first_round", exact.first_round},
                                      {"last_round", exact.last_round},
                                      {"access", exact.access},
                                      {"count", exact.count}});
  }
  json["groups"] = Json::array();
  for (const ClientGroup& group : report.groups) {
    Json events = Json::array();
    for (const EventShare& kind : group.events) {
      const Json share = std::isnan(kind.part) ? Json(nullptr) : json_number(kind.part);
      events.push_back({{"event", describe(kind.event)}, {"count", kind.count}, {"share", share}});
    }
    json["groups"].push_back({{"clients", group.clients.empty() ? Json("all") : Json(group.clients)},
                              {"examples_least", group.examples_least},
                              {"examples_most", group.examples_most},
                              {"rounds", group.rounds},
                              {"epsilon_rdp", json_epsilon(group.rdp)},
                              {"order", json_number(group.order)},
                              {"events", std::move(events)}});
  }
  if (report.keeps) json["kept"] = true;
  return json_text(json, 2) + "\n";
}

}  // namespace fedarena::results
