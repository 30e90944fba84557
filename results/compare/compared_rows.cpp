#include "results/compare/compared_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/claim_text.hpp"
#include "results/record/sweep.hpp"
#include "results/table/notes.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// One row of all, or one for each folder where they do not fit together.
void add_rows(RowRuns row, std::vector<RowRuns>& rows) {
  std::map<std::size_t, RowRuns> parts;
  for (const FoundRun* run : row.runs)
    parts.try_emplace(run->folder_place, RowRuns{.key = row.key}).first->second.runs.push_back(run);
  try {
    check_row(row);
    rows.push_back(std::move(row));
  } catch (const Error&) {
    if (parts.size() == 1) throw;
    for (auto& [place, part] : parts) {
      check_row(part);
      rows.push_back(std::move(part));
    }
  }
}

using Differences = std::vector<RowDifference>;

void add(Differences& differences, const char* across, const std::string& what, const std::string& left,
         const std::string& right) {
  if (left == right) return;
  differences.push_back({across, fmt::format("{}: \"{}\" and \"{}\"", what, left, right)});
}

// "of seed 3" in the texts of what is compared seed by seed.
std::string of_seed(const char* what, const Summary& summary) {
  return fmt::format("{} of seed {}", what, summary.seed);
}

void compare_partitions(const Summary& left, const Summary& right, Differences& differences) {
  add(differences, kAcrossPartition, of_seed("partition", left), left.partition_id, right.partition_id);
  add(differences, kAcrossPartition, of_seed("index hash", left), left.partition_hash, right.partition_hash);
  add(differences, kAcrossPartition, "number of clients", std::to_string(left.clients),
      std::to_string(right.clients));
}

bool nearly_equal(double left, double right) {
  return left == right || std::abs(left - right) < kEqualEpsilons * std::max(left, right);
}

// The first respect in which claims of privacy differ other than in epsilon; empty without any.
std::string different_terms(const Summary& left, const Summary& right) {
  Differences terms;
  const auto compare = [&](const char* what, const std::string& one, const std::string& other) {
    add(terms, kAcrossEpsilon, what, one, other);
  };
  compare("privacy policy", left.policy, right.policy);
  const PrivacyClaim first = left.privacy.value_or(PrivacyClaim{});
  const PrivacyClaim second = right.privacy.value_or(PrivacyClaim{});
  compare("unit of privacy", first.unit, second.unit);
  const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
  compare("adjacency", shown(first.adjacency), shown(second.adjacency));
  compare("delta", short_number(first.settings.delta), short_number(second.settings.delta));
  compare("orders of RDP", first.settings.orders, second.settings.orders);
  compare("conversion of RDP", first.settings.conversion, second.settings.conversion);
  compare("assumption of the accountant", first.settings.assume, second.settings.assume);
  return terms.empty() ? "" : terms.front().text;
}

// By RDP where it proves both: noise for an epsilon is found by it, and by PLD unlike accesses differ a
// little then.
bool same_by(const PrivacyClaim& left, const PrivacyClaim& right, std::optional<Claim> PrivacyClaim::*rdp,
             std::optional<Claim> PrivacyClaim::*pld) {
  std::optional<bool> equal;
  for (const auto accountant : {rdp, pld}) {
    const std::optional<Claim>&one = left.*accountant, &other = right.*accountant;
    if (is_finite(one) && is_finite(other)) {
      if (!equal) equal = nearly_equal(*one->epsilon, *other->epsilon);
    } else if (one.has_value() != other.has_value() || (one && one->epsilon != other->epsilon)) {
      return false;
    }
  }
  return equal.value_or(true);
}

bool same_epsilons(const std::optional<PrivacyClaim>& left, const std::optional<PrivacyClaim>& right) {
  if (!left || !right) return !left && !right;
  return same_by(*left, *right, &PrivacyClaim::rdp, &PrivacyClaim::pld) &&
         same_by(*left, *right, &PrivacyClaim::as_if_rdp, &PrivacyClaim::as_if_pld);
}

// What a row claims of the seeds that the other has, too; of all where there are none.
std::optional<PrivacyClaim> claim_of_shared(const RowRuns& row, const RowRuns& other) {
  RowRuns shared = row;
  std::erase_if(shared.runs,
                [&](const FoundRun* run) { return other.of_seed(run->summary->seed) == nullptr; });
  return shared.runs.empty() ? row.privacy() : shared.privacy();
}

void compare_privacy(const RowRuns& left, const RowRuns& right, Differences& differences) {
  const std::string terms = different_terms(left.summary(), right.summary());
  const auto first = claim_of_shared(left, right), second = claim_of_shared(right, left);
  if (terms.empty() && same_epsilons(first, second)) return;
  // The nearest numbers: those that are rounded up may read the same.
  differences.push_back(
      {kAcrossEpsilon, fmt::format("{}{}largest epsilon: {} and {}", terms, terms.empty() ? "" : ", ",
                                   claims_text(first, epsilon_number), claims_text(second, epsilon_number))});
}

// Initial weights are known by their digest, wherever their file lies.
std::string model_of(const Summary& summary) {
  return without_swept(summary.model, {{"model.weights", ""}}, "model");
}

// What all seeds of a row share.
void compare_settings(const Summary& left, const Summary& right, Differences& differences) {
  add(differences, kAcrossData, "data set", left.dataset, right.dataset);
  add(differences, kAcrossData, "SHA-256 of the data", short_hash(left.data_hash),
      short_hash(right.data_hash));
  add(differences, kAcrossData, "note on the data", left.dataset_note, right.dataset_note);
  add(differences, kAcrossModel, "model", model_of(left), model_of(right));
  add(differences, kAcrossModel, "number of parameters", std::to_string(left.parameters),
      std::to_string(right.parameters));
  add(differences, kAcrossRounds, "planned rounds", std::to_string(left.rounds),
      std::to_string(right.rounds));
  add(differences, kAcrossTuning, "tuning", trials_text(left.tuning), trials_text(right.tuning));
}

// What --across must name for rows to differ in a condition: canaries are in the data, cohorts and rules that
// end a run are about rounds.
const char* across_of(const std::string& condition) {
  if (condition.starts_with("audit.")) return kAcrossData;
  return condition == "experiment.dtype" ? kAcrossModel : kAcrossRounds;
}

// But for what tells the points of a grid apart.
void compare_conditions(const FoundRun& left, const FoundRun& right, Differences& differences) {
  for (const ConditionDifference& found :
       condition_differences(row_conditions(left.settings), row_conditions(right.settings))) {
    if (swept_value(left.summary->sweep, found.key) || swept_value(right.summary->sweep, found.key)) continue;
    add(differences, across_of(found.key), found.key, found.left, found.right);
  }
}

// The first of each kind: the others mostly follow from it.
Differences first_of_each_kind(const Differences& all) {
  Differences first;
  for (const RowDifference& difference : all) {
    const auto same_kind = [&](const RowDifference& known) { return known.across == difference.across; };
    if (std::ranges::none_of(first, same_kind)) first.push_back(difference);
  }
  return first;
}

}  // namespace

Rows gather_compared_rows(std::span<const FoundRun> runs) {
  Rows gathered = gather_rows(runs);
  std::vector<RowRuns> rows;
  for (RowRuns& row : gathered.rows) add_rows(std::move(row), rows);
  gathered.rows = std::move(rows);
  return gathered;
}

std::string plain_name(const RowRuns& row) { return one_line(row_name(row.key)); }

void name_apart(std::span<RowRuns> rows) {
  std::map<std::string, std::vector<RowRuns*>> namesakes;
  for (RowRuns& row : rows) namesakes[plain_name(row)].push_back(&row);
  for (const auto& [name, group] : namesakes) {
    std::vector<Setting> settings;
    std::vector<Sweep> sweeps;
    for (const RowRuns* row : group) sweeps.push_back(settings.emplace_back(row->key.setting).sweep);
    const SettingNames names(settings, differing_keys(sweeps));
    for (RowRuns* row : group) {
      std::string where = names.of(row->key.setting);
      if (std::ranges::count(settings, row->key.setting) > 1)
        where += (where.empty() ? "" : ", ") + row->runs.front()->folder.generic_string();
      row->name = where.empty() ? name : fmt::format("{} ({})", name, one_line(where));
    }
  }
}

std::vector<std::string> across_names() {
  return {kAcrossData,   kAcrossPartition, kAcrossEpsilon, kAcrossModel,
          kAcrossRounds, kAcrossTuning,    kAcrossGrid};
}

std::vector<RowDifference> row_differences(const RowRuns& left, const RowRuns& right) {
  Differences differences;
  compare_settings(left.summary(), right.summary(), differences);
  compare_conditions(*left.runs.front(), *right.runs.front(), differences);
  for (const FoundRun* run : left.runs) {
    const FoundRun* other = right.of_seed(run->summary->seed);
    if (other == nullptr) continue;
    compare_partitions(*run->summary, *other->summary, differences);
  }
  compare_privacy(left, right, differences);
  return first_of_each_kind(differences);
}

}  // namespace fedarena::results
