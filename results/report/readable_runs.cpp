#include "results/report/readable_runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"

#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"
#include "results/table/row_key.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

void mark_broken(FoundRun& run, std::string problem) {
  run.summary.reset();
  run.problem = std::move(problem);
}

bool same(const std::optional<double>& left, const std::optional<double>& right) {
  if (left && right && std::isnan(*left) && std::isnan(*right)) return true;
  return left == right;
}

std::string number_text(const std::optional<double>& number) {
  return number ? exact_number(*number) : "null";
}

// The results that tables show are those of the last round.
void check_result(const FoundRun& run, const std::string& field, const std::optional<double>& stated,
                  const std::optional<double>& recorded) {
  if (same(stated, recorded)) return;
  throw Error(Complaint{
      .place = {.file = (run.path / kSummaryFile).string()},
      .found = fmt::format("field \"{}\" is {}", field, number_text(stated)),
      .allowed = fmt::format("{}, as the last line of {} says", number_text(recorded), kRoundsFile)});
}

std::vector<RoundRecord> read_rounds(const FoundRun& run) {
  std::vector<RoundRecord> rounds = recorded_rounds(run.path, *run.summary);
  if (rounds.empty()) {
    throw Error(Complaint{.place = {.file = (run.path / kSummaryFile).string()},
                          .found = "field \"rounds_done\" is 0",
                          .allowed = "from 1, because the state is finished"});
  }
  check_result(run, "final_test_loss", run.summary->final_test_loss, rounds.back().test_loss);
  check_result(run, "final_test_accuracy", run.summary->final_test_accuracy, rounds.back().test_accuracy);
  return rounds;
}

// The rounds of those that can be read; the others are marked.
RowRounds read_row(std::vector<FoundRun*>& row) {
  RowRounds rounds;
  std::erase_if(row, [&](FoundRun* run) {
    try {
      rounds.push_back(read_rounds(*run));
      return false;
    } catch (const Error& error) {
      mark_broken(*run, problem_line(error));
      return true;
    }
  });
  return rounds;
}

// Whether these runs are one row; when not, all of them are marked, because nobody knows which one is wrong.
bool is_one_row(const std::vector<FoundRun*>& row) {
  try {
    for (std::size_t i = 1; i < row.size(); ++i) check_same_row(*row[i - 1], *row[i]);
    return true;
  } catch (const Error& error) {
    Complaint complaint = error.complaint();
    complaint.remedy.clear();
    // Once: it may be long, and the row too.
    for (FoundRun* run : row) {
      mark_broken(*run,
                  fmt::format("is in one row with {}, which says what is wrong", row.front()->path.string()));
    }
    mark_broken(*row.front(), one_line(Error(std::move(complaint)).what()));
    return false;
  }
}

}  // namespace

ReadableRuns readable_runs(std::vector<FoundRun> runs,
                           const std::function<std::string(const RowRounds&)>& text_of) {
  std::map<RowKey, std::vector<FoundRun*>, RowOrder> groups;
  for (FoundRun& run : runs) {
    if (run.summary && run.summary->state == kFinished) groups[key_of(*run.summary)].push_back(&run);
  }
  std::vector<std::vector<FoundRun*>> rows;
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
  std::vector<std::optional<std::string>> texts(rows.size());
  const WorkPool pool(WorkPool::available_cores());
  pool.for_each(rows.size(), [&](std::size_t i) {
    std::vector<FoundRun*>& row = rows[i];
    std::sort(row.begin(), row.end(), [](const FoundRun* left, const FoundRun* right) {
      if (left->summary->seed != right->summary->seed) return left->summary->seed < right->summary->seed;
      return natural_less(left->path.generic_string(), right->path.generic_string());
    });
    const RowRounds rounds = read_row(row);
    if (!row.empty() && is_one_row(row)) texts[i] = text_of(rounds);
  });
  ReadableRuns readable{.runs = std::move(runs), .rows = {}};
  for (std::optional<std::string>& text : texts) {
    if (text) readable.rows.push_back(*std::move(text));
  }
  return readable;
}

}  // namespace fedarena::results
