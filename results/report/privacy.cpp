// What each run's epsilon rests on: the claim of its summary, and what its ledger says of whose data. Nothing
// is composed by PLD here, which takes a tenth of a second a run: `fedarena privacy` and `fedarena verify`
// do.
#include <algorithm>
#include <cmath>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/odometer.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "results/audit/compute_claim.hpp"
#include "results/audit/privacy_report.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Odometers keep the curves of events, which most runs share.
class Odometers {
 public:
  const Odometer& of(const AccountSettings& settings) {
    for (const auto& [known, odometer] : odometers_) {
      if (known == settings) return odometer;
    }
    return odometers_.emplace_back(settings, Odometer(settings)).second;
  }

 private:
  std::deque<std::pair<AccountSettings, Odometer>> odometers_;
};

std::string happened(const ClientGroup& group) {
  std::vector<std::string> kinds;
  for (const EventShare& kind : group.events)
    kinds.push_back(fmt::format("{} × {}", kind.count, describe(kind.event)));
  return kinds.empty() ? "nothing" : fmt::format("{}", fmt::join(kinds, "; "));
}

std::string exact_list(const Ledger& ledger) {
  constexpr std::size_t kMost = 20;
  const std::vector<ExactFinding> found = exact_findings(ledger);
  if (found.empty()) return "";
  std::string html = "<p>Exact accesses, which make epsilon infinite:</p>\n<ul>\n";
  for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) {
    const ExactFinding& exact = found[i];
    html += html_element("li", fmt::format("{}, rounds {} to {}: {}, {}", who(exact), exact.first_round,
                                           exact.last_round, exact.access, counted(exact.count, "time"))) +
            "\n";
  }
  if (found.size() > kMost)
    html += html_element("li", fmt::format("and {} more", found.size() - kMost)) + "\n";
  return html + "</ul>\n";
}

// `planned`: accesses are those of a plan not all of which was made.
std::string group_table(std::span<const ClientGroup> groups, bool planned) {
  constexpr std::size_t kMost = 20;
  const std::vector<Column<ClientGroup>> columns = {
      {"clients", Align::kText, clients_text},
      {"examples", Align::kNumber,
       [](const ClientGroup& group) { return range_text(group.examples_least, group.examples_most); }},
      {"rounds", Align::kNumber, [](const ClientGroup& group) { return std::to_string(group.rounds); }},
      {"epsilon (RDP)", Align::kNumber,
       [](const ClientGroup& group) { return claim_text(group.rdp, epsilon_number); }},
      {"accesses", Align::kText, happened}};
  const bool by_budget = std::ranges::any_of(groups, &ClientGroup::by_budget);
  std::string html =
      scrolling({.caption = by_budget ? "What was asked for, or planned, of whose data, charged by budgets"
                            : planned ? "What is charged for whose data"
                                      : "What happened to whose data",
                 .grid = cell_grid(columns, groups.first(std::min(groups.size(), kMost)))});
  if (groups.size() > kMost) {
    html +=
        html_element("p", fmt::format("and {} more groups of clients; fedarena privacy RUN lists them all",
                                      groups.size() - kMost)) +
        "\n";
  }
  return html;
}

// A ledger and a summary that were not written together, or were edited.
void compare_claims(const PrivacyClaim& claim, const std::vector<ClientGroup>& groups,
                    const std::filesystem::path& run, Problems& problems) {
  constexpr double kTolerance = 1e-6;
  Claim worst{.epsilon = 0};
  for (const ClientGroup& group : groups) worst = worse(worst, *group.rdp);
  if (!claim.rdp || !claim.rdp->epsilon || !worst.epsilon) return;
  const double stated = *claim.rdp->epsilon, found = *worst.epsilon;
  if (stated == found || std::abs(stated - found) <= kTolerance * found) return;
  problems.push_back(
      {run, fmt::format("{}: field \"epsilon_rdp\" is {}, but {} gives {}; fedarena verify says more",
                        kSummaryFile, exact_number(stated), kLedgerFile, exact_number(found))});
}

// The explanation of one run, without its name, so that seeds that share it are told once.
std::string explanation(const SeedResult& seed, Odometers& odometers, Problems& problems) {
  const PrivacyClaim& claim = *seed.summary.privacy;
  std::string html = facts(claim_lines(claim));
  try {
    const Ledger ledger = paid_part(claim, read_ledger(seed.path, claim.unit));
    std::vector<ClientGroup> groups = client_groups(ledger, claim.budget);
    charge_groups(groups, claim, ledger, odometers.of(claim.settings));
    compare_claims(claim, groups, seed.path, problems);
    html += exact_list(ledger) + group_table(groups, claim.made_rdp.has_value());
  } catch (const Error& error) {
    problems.push_back({seed.path, problem_line(error)});
    html += html_element("p", fmt::format("What happened is not known: {}", problem_line(error))) + "\n";
  }
  return html;
}

std::string row_details(const std::string& row_title, const Row& row, Odometers& odometers,
                        Problems& problems) {
  SeedsByText told;
  for (const SeedResult& seed : row.seeds)
    add_seed(told, explanation(seed, odometers, problems), seed.seed());
  const PrivacyClaim& claim = *row.privacy;
  const std::string title = fmt::format("{}: epsilon {}{} by RDP, {}{} by PLD, per {}", row_title,
                                        claim_text(claim.rdp), assumption_mark(claim, claim.rdp),
                                        claim_text(claim.pld), assumption_mark(claim, claim.pld), claim.unit);
  std::string html = fmt::format("<details>\n{}\n", html_element("summary", title));
  for (const auto& [text, seeds] : told)
    html += html_element("h4", "S" + seeds_text(seeds).substr(1)) + "\n" + text;
  return html + "</details>\n";
}

// The first of many, in a paragraph.
std::string listing(const std::string& head, std::vector<std::string> names, const std::string& tail) {
  constexpr std::size_t kMost = 20;
  const std::size_t more = names.size() > kMost ? names.size() - kMost : 0;
  names.resize(names.size() - more);
  return html_element("p", fmt::format("{}: {}{}.{}", head, fmt::join(names, "; "),
                                       more > 0 ? fmt::format("; and {} more", more) : "", tail)) +
         "\n";
}

}  // namespace

std::string privacy_body(std::span<const FoundRun> runs, const Table& table, Problems& problems) {
  const SettingNames titles = setting_names(table);
  Odometers odometers;
  std::string details;
  std::vector<std::string> open;
  for (const Row& row : table.rows) {
    if (row.privacy) {
      details += row_details(titles.of(row), row, odometers, problems);
    } else {
      open.push_back(titles.of(row));
    }
  }
  std::string html;
  if (!details.empty()) {
    html +=
        "<p>Claims are as the runs recorded them, epsilons of single clients by RDP from their ledgers. "
        "<code>fedarena privacy RUN</code> explains a run in full, <code>fedarena verify RUN</code> computes "
        "its claim again.</p>\n" +
        details;
  }
  // Rows are of finished runs; what others have charged is charged all the same.
  std::vector<std::string> unfinished;
  for (const FoundRun& run : runs) {
    if (run.summary && run.summary->state != kFinished && run.summary->privacy)
      unfinished.push_back(fmt::format("{} ({})", run.path.string(), run.summary->state));
  }
  if (!unfinished.empty()) {
    html += listing("Not finished, and not told of here", std::move(unfinished),
                    " fedarena privacy RUN says what their ledgers have charged so far.");
  }
  if (!open.empty()) {
    html +=
        listing("Under the policy none, which hides nobody's data and makes no claim", std::move(open), "");
  }
  return html;
}

}  // namespace fedarena::results
