#include "results/report/readable_runs.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"

#include "results/record/run_directory.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {

ReadableRuns readable_runs(std::vector<FoundRun> runs, const MakeParts& make) {
  std::vector<RowRuns> rows = gather_rows(runs).rows;
  std::vector<std::optional<RowParts>> parts(rows.size());
  // Of runs of one row by one thread.
  const auto set_aside = [&](const FoundRun* run, std::string problem) {
    FoundRun& broken = runs[static_cast<std::size_t>(run - runs.data())];
    broken.summary.reset();
    broken.problem = std::move(problem);
  };
  const WorkPool pool(WorkPool::available_cores());
  pool.for_each(rows.size(), [&](std::size_t i) {
    std::vector<const FoundRun*>& row = rows[i].runs;
    RowRounds rounds;
    std::erase_if(row, [&](const FoundRun* run) {
      try {
        rounds.push_back(recorded_rounds(run->path, *run->summary));
        return false;
      } catch (const Error& error) {  // also of more rounds than fit into memory, which tables need not
        set_aside(run, problem_line(error));
        return true;
      }
    });
    if (row.empty()) return;
    try {
      check_row(rows[i]);
    } catch (const Error& error) {
      Complaint complaint = error.complaint();
      complaint.remedy.clear();
      // Nobody knows which one is wrong. Said once: it may be long, and the row too.
      for (const FoundRun* run : row)
        set_aside(run,
                  fmt::format("is in one row with {}, which says what is wrong", row.front()->path.string()));
      return set_aside(row.front(), one_line(Error(std::move(complaint)).what()));
    }
    parts[i] = make(rows[i], rounds);
  });
  ReadableRuns readable{.runs = std::move(runs), .rows = {}};
  for (std::optional<RowParts>& of_row : parts) {
    if (of_row) readable.rows.push_back(*std::move(of_row));
  }
  return readable;
}

}  // namespace fedarena::results
