#include "results/export/exported_runs.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "results/audit/compute_claim.hpp"
#include "results/measures/catalogue.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> warnings(const Summary& summary) {
  if (!summary.privacy) return {};
  std::vector<std::string> texts;
  if (const std::string text = delta_warning(*summary.privacy); !text.empty()) texts.push_back(text);
  if (assumes_data_had_no_say(*summary.privacy) || summary.privacy->unplanned)
    texts.emplace_back("epsilon is proven only if no answer had a say in what was asked for");
  if (summary.personal)
    texts.emplace_back("scores of clients are those of models of their own, which no epsilon covers");
  return texts;
}

// All digits, also of counts that no double holds.
std::string text_of(std::int64_t count) { return std::to_string(count); }
std::string text_of(double number) { return exact_number(number); }

RoundValue value_of(const CatalogueEntry& entry, const RecordedNumber& number,
                    const std::string& suffix = {}) {
  return {.measure = entry.field,
          .group = entry.group,
          .name = std::string(entry.field) + suffix,
          .number = std::visit([](auto each) { return static_cast<double>(each); }, number),
          .text = std::visit([](auto each) { return text_of(each); }, number),
          .upper_bound = entry.unit == NumberUnit::kEpsilon};
}

std::optional<RecordedNumber> epsilon_of(const std::optional<Claim>& claim) {
  return claim && claim->epsilon ? std::optional<RecordedNumber>(*claim->epsilon) : std::nullopt;
}

// Of the last model.
template <typename Wanted>
void add_attack(const MembershipAttack& attack, const Wanted& wanted, std::vector<RoundValue>& values) {
  for (const AttackMeasure& measure : attack_measures()) {
    if (!wanted(measure.field)) continue;
    const double number = attack.separation.*measure.of_attack;
    values.push_back({.measure = measure.field,
                      .group = "attacks",
                      .name = fmt::format("{}_{}", measure.field, attack.score),
                      .number = number,
                      .text = text_of(number)});
  }
}

}  // namespace

ExportedRuns read_exported_runs(std::span<const fs::path> folders) {
  std::vector<FoundRun> found = find_runs(folders);
  const std::vector<std::string> names = run_names(found, folders);
  ExportedRuns exported;
  std::vector<std::string> problems;
  std::size_t unfinished = 0, secret = 0;
  std::map<std::string, std::size_t> warned;  // how many runs, by what is to be said of their epsilon
  for (std::size_t i = 0; i < found.size(); ++i) {
    FoundRun& run = found[i];
    const auto leave_out = [&](const std::string& why) {
      problems.push_back(one_line(fmt::format("{}: {}", run.path.string(), why)));
    };
    if (!run.summary) {
      leave_out(run.problem);
      continue;
    }
    try {
      std::vector<RoundRecord> rounds = recorded_rounds(run.path, *run.summary);
      if (rounds.empty()) {
        leave_out("no round is complete yet");
        continue;
      }
      run.summary->privacy = claim_so_far(*run.summary, run.path);
      unfinished += run.summary->state == kFinished ? 0 : 1;
      secret += is_secret(DrawnSizes::kBatches, run.summary->privacy) ? 1 : 0;
      for (const std::string& warning : warnings(*run.summary)) ++warned[warning];
      exported.runs.push_back({.name = names[i],
                               .settings = std::move(run.settings),
                               .summary = std::move(*run.summary),
                               .rounds = std::move(rounds)});
    } catch (const Error& error) {
      leave_out(problem_line(error));
      continue;
    }
    try {
      exported.runs.back().attacks = read_attacks(run.path);
    } catch (const Error& error) {
      leave_out(problem_line(error));
    }
  }
  if (exported.runs.empty()) {
    throw Error(Complaint{.found = "there is nothing to export: " + problems.front(),
                          .remedy = "`fedarena list` shows how far runs are, and what is wrong with them."});
  }
  if (unfinished > 0) {
    exported.notes.push_back(fmt::format("{} of {} runs {} not finished: exported as far as they are",
                                         unfinished, exported.runs.size(), unfinished == 1 ? "is" : "are"));
  }
  if (secret > 0) {
    exported.notes.push_back(fmt::format(
        "{}: what would tell the sizes of drawn samples, which privacy keeps secret, is not exported",
        counted(secret, "private run")));
  }
  for (const auto& [warning, runs] : warned) {
    exported.notes.push_back(fmt::format("{}: {}", counted(runs, "run"), warning));
  }
  for (const std::string& problem : problems) exported.notes.push_back(problem + "; not exported");
  return exported;
}

std::vector<std::string> exported_measures() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    if (!entry.field.empty()) names.emplace_back(entry.field);
  }
  for (const AttackMeasure& measure : attack_measures()) names.emplace_back(measure.field);
  return names;
}

std::vector<RoundValue> round_values(const ExportedRun& run, const RoundRecord& round,
                                     const Measures& measures) {
  const Summary& summary = run.summary;
  const auto wanted = [&](std::string_view field) {
    return !field.empty() && (measures.empty() || contains(measures, field));
  };
  const bool last = summary.state == kFinished && round.round == summary.rounds_done;
  std::vector<RoundValue> values;
  for (const CatalogueEntry& entry : catalogue()) {
    if (!wanted(entry.field) || is_secret(entry.draws, summary.privacy)) continue;
    std::optional<RecordedNumber> number = number_of(entry, summary.privacy, round);
    if (entry.claim != nullptr && last && summary.privacy) number = epsilon_of(*summary.privacy.*entry.claim);
    if (number) values.push_back(value_of(entry, *number));
    if (entry.each_of_round == nullptr) continue;
    for (const auto& [word, each] : entry.each_of_round(round))
      values.push_back(value_of(entry, each, "_" + word));
  }
  if (last && run.attacks) {
    for (const MembershipAttack& attack : run.attacks->attacks) add_attack(attack, wanted, values);
  }
  return values;
}

}  // namespace fedarena::results
