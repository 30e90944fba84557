#include "results/compare/compared_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

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

}  // namespace fedarena::results
