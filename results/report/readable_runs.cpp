#include "results/report/readable_runs.hpp"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"

#include "results/record/run_directory.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// What is wrong with each run; empty where nothing is.
using RunProblems = std::map<const FoundRun*, std::string>;

// The rounds of those that can be read; the others leave the row.
RowRounds read_row(RowRuns& row, RunProblems& problems) {
  RowRounds rounds;
  std::erase_if(row.runs, [&](const FoundRun* run) {
    try {
      rounds.push_back(recorded_rounds(run->path, *run->summary));
      return false;
    } catch (const Error& error) {
      problems[run] = problem_line(error);
      return true;
    }
  });
  return rounds;
}

// Whether these runs are one row; when not, all of them have a problem, because nobody knows which one is
// wrong.
bool is_one_row(const RowRuns& row, RunProblems& problems) {
  try {
    check_row(row);
    return true;
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.remedy.clear();
    // Once: it may be long, and the row too.
    for (const FoundRun* run : row.runs) {
      problems[run] =
          fmt::format("is in one row with {}, which says what is wrong", row.runs.front()->path.string());
    }
    problems[row.runs.front()] = one_line(Error(std::move(complaint)).what());
    return false;
  }
}

}  // namespace

ReadableRuns readable_runs(std::vector<FoundRun> runs, const MakeParts& make) {
  std::vector<RowRuns> rows = gather_rows(runs).rows;
  std::vector<std::optional<RowParts>> parts(rows.size());
  std::vector<RunProblems> problems(rows.size());
  const WorkPool pool(WorkPool::available_cores());
  pool.for_each(rows.size(), [&](std::size_t i) {
    const RowRounds rounds = read_row(rows[i], problems[i]);
    if (!rounds.empty() && is_one_row(rows[i], problems[i])) parts[i] = make(rows[i], rounds);
  });
  for (const auto& of_row : problems) {
    for (const auto& [run, problem] : of_row) {
      FoundRun& broken = runs[static_cast<std::size_t>(run - runs.data())];
      broken.summary.reset();
      broken.problem = problem;
    }
  }
  ReadableRuns readable{.runs = std::move(runs), .rows = {}};
  for (std::optional<RowParts>& of_row : parts) {
    if (of_row) readable.rows.push_back(*std::move(of_row));
  }
  return readable;
}

}  // namespace fedarena::results
