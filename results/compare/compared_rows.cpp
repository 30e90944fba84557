#include "results/compare/compared_rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// The part of a row that lies below one folder.
RowRuns part_of(const RowRuns& row, const FolderRuns& folder) {
  RowRuns part{.key = row.key, .folder = folder.folder.generic_string()};
  for (const FoundRun* run : row.runs) {
    if (std::ranges::any_of(folder.runs, [&](const FoundRun& own) { return &own == run; }))
      part.runs.push_back(run);
  }
  return part;
}

// One row of all, or one for each folder where they do not fit together.
void add_rows(RowRuns row, std::span<const FolderRuns> folders, std::vector<RowRuns>& rows) {
  std::vector<RowRuns> parts;
  for (const FolderRuns& folder : folders) {
    RowRuns part = part_of(row, folder);
    if (part.runs.empty()) continue;
    if (part.runs.front() == row.runs.front()) row.folder = part.folder;
    parts.push_back(std::move(part));
  }
  try {
    check_row(row);
    rows.push_back(std::move(row));
  } catch (const Error&) {
    if (parts.size() == 1) throw;
    for (RowRuns& part : parts) {
      check_row(part);
      rows.push_back(std::move(part));
    }
  }
}

}  // namespace

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
  std::vector<FoundRun*> all;
  for (FolderRuns& folder : found) {
    for (FoundRun& run : folder.runs) all.push_back(&run);
  }
  fill_in_swept(all);
  return found;
}

Rows gather_rows(std::span<const FolderRuns> folders) {
  std::vector<const FoundRun*> runs;
  for (const FolderRuns& folder : folders) {
    for (const FoundRun& run : folder.runs) runs.push_back(&run);
  }
  Rows gathered = gather_rows(std::move(runs));
  std::vector<RowRuns> rows;
  for (RowRuns& row : gathered.rows) add_rows(std::move(row), folders, rows);
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
        where += (where.empty() ? "" : ", ") + row->folder;
      row->name = where.empty() ? name : fmt::format("{} ({})", name, one_line(where));
    }
  }
}

}  // namespace fedarena::results
