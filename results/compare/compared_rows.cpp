#include "results/compare/compared_rows.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "results/text/natural_order.hpp"
#include "results/record/sweep.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// A run and the folder that it came from.
struct Candidate {
  const FolderRuns* source = nullptr;
  const FoundRun* run = nullptr;
};

void sort_by_seed(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& left, const Candidate& right) {
    return left.run->summary->seed < right.run->summary->seed;
  });
}

ComparedRow make_row(const RowKey& key, const std::vector<Candidate>& candidates) {
  ComparedRow row{.key = key, .folder = candidates.front().source->folder.generic_string(), .runs = {}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0) check_same_row(*candidates[i - 1].run, *candidates[i].run);
    row.runs.emplace(candidates[i].run->summary->seed, *candidates[i].run);
  }
  return row;
}

// One row of all, or one for each folder where they do not fit together.
void add_rows(const RowKey& key, std::vector<Candidate> candidates, std::vector<ComparedRow>& rows) {
  std::map<const FolderRuns*, std::vector<Candidate>> by_folder;  // in the order in which they were named
  for (const Candidate& candidate : candidates) by_folder[candidate.source].push_back(candidate);
  sort_by_seed(candidates);
  try {
    rows.push_back(make_row(key, candidates));
  } catch (const Error&) {
    if (by_folder.size() == 1) throw;
    for (auto& [folder, group] : by_folder) {
      sort_by_seed(group);
      rows.push_back(make_row(key, group));
    }
  }
}

std::string not_counted(const FoundRun& run) {
  if (!run.summary) return fmt::format("{}: {}; not counted", run.path.string(), run.problem);
  return fmt::format("{}: unfinished ({} of {} rounds) and not counted", run.path.string(),
                     run.summary->rounds_done, run.summary->rounds);
}

// In which respect rows of one plain name may differ, as it stands in their names.
using Respect = std::string (*)(const ComparedRow&);
constexpr std::array<Respect, 6> kRespects = {
    [](const ComparedRow& row) { return sweep_text(row.key.shared); },
    [](const ComparedRow& row) { return row.folder; },
    [](const ComparedRow& row) { return "experiment " + row.key.experiment; },
    [](const ComparedRow& row) { return "data set " + row.key.names[0]; },
    [](const ComparedRow& row) { return "partition " + row.key.names[1]; },
    [](const ComparedRow& row) { return "model " + row.key.names[2]; }};

bool all_distinct(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() == texts.size();
}

// For rows of one plain name: what stands in brackets behind it.
std::vector<std::string> qualifiers(const std::vector<const ComparedRow*>& rows) {
  std::vector<std::string> texts(rows.size());
  for (const Respect respect : kRespects) {
    if (all_distinct(texts)) break;
    const auto differs = [&](const ComparedRow* row) { return respect(*row) != respect(*rows.front()); };
    if (std::none_of(rows.begin(), rows.end(), differs)) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string text = respect(*rows[i]);
      if (!text.empty()) texts[i] += (texts[i].empty() ? "" : ", ") + text;
    }
  }
  return texts;
}

}  // namespace

std::string ComparedRow::plain_name() const { return one_line(row_name(key.names[3], key.own)); }

std::vector<FolderRuns> find_runs_by_folder(std::span<const fs::path> folders) {
  std::vector<FolderRuns> found;
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    const fs::path normal = folder.lexically_normal();
    FolderRuns runs{.folder = normal.has_filename() ? normal : normal.parent_path(),  // "runs/" is "runs"
                    .runs = find_runs({&folder, 1})};
    std::erase_if(runs.runs, [&](const FoundRun& run) {
      std::error_code failure;
      const fs::path real = fs::canonical(run.path, failure);
      return !seen.insert(failure ? run.path : real).second;
    });
    if (!runs.runs.empty()) found.push_back(std::move(runs));
  }
  return found;
}

ComparedRows gather_rows(std::span<const FolderRuns> folders) {
  std::map<RowKey, std::vector<Candidate>, RowOrder> groups;
  ComparedRows gathered;
  for (const FolderRuns& folder : folders) {
    for (const FoundRun& run : folder.runs) {
      if (run.summary && run.summary->state == kFinished) {
        groups[key_of(*run.summary)].push_back({&folder, &run});
      } else {
        gathered.notes.push_back(one_line(not_counted(run)));
      }
    }
  }
  for (const auto& [key, candidates] : groups) add_rows(key, candidates, gathered.rows);
  std::sort(gathered.notes.begin(), gathered.notes.end(), natural_less);
  return gathered;
}

std::vector<std::string> distinct_names(std::span<const ComparedRow* const> rows) {
  std::map<std::string, std::vector<std::size_t>> namesakes;
  std::vector<std::string> names;
  for (const ComparedRow* row : rows) {
    namesakes[row->plain_name()].push_back(names.size());
    names.push_back(row->plain_name());
  }
  for (const auto& [name, positions] : namesakes) {
    std::vector<const ComparedRow*> group;
    for (const std::size_t position : positions) group.push_back(rows[position]);
    const std::vector<std::string> texts = qualifiers(group);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (!texts[i].empty()) names[positions[i]] += fmt::format(" ({})", one_line(texts[i]));
    }
  }
  return names;
}

}  // namespace fedarena::results
