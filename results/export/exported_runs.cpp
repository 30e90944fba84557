#include "results/export/exported_runs.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "results/audit/compute_claim.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {

namespace fs = std::filesystem;

namespace {

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
                               .folder = run.path,
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

}  // namespace fedarena::results
