#include "results/table/list.hpp"

#include "results/record/record.hpp"
#include "results/record/run_setup.hpp"
#include "results/record/test_metrics.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Line = std::vector<std::string>;

// run, experiment, algorithm, seed, state, rounds, accuracy
const std::vector<bool> kRightAligned = {false, false, false, true, false, true, true};

std::string accuracy_of(const Summary& summary) {
  if (summary.state != kFinished) return "";
  if (summary.final_test_accuracy) return percent(*summary.final_test_accuracy) + " %";
  return "RMSE " + measured(root_mean_squared_error(*summary.final_test_loss));
}

Line line_of(const FoundRun& run, const Summary& summary) {
  const std::string control = is_control(summary, run.path) ? " (control)" : "";
  return {one_line(run.path.string()),
          one_line(summary.experiment),
          one_line(summary.label) + control,
          std::to_string(summary.seed),
          state_text(summary),
          fmt::format("{}/{}", summary.rounds_done, summary.rounds),
          accuracy_of(summary)};
}

}  // namespace

std::string render_list(std::span<const FoundRun> runs) {
  std::vector<Line> lines = {{"run", "experiment", "algorithm", "seed", "state", "rounds", "accuracy"}};
  // A problem is a sentence: it takes part in no column but the first.
  for (const FoundRun& run : runs) {
    lines.push_back(run.summary ? line_of(run, *run.summary) : Line{one_line(run.path.string())});
  }
  const std::vector<std::size_t> widths = column_widths(lines);
  std::string text = aligned_line(lines.front(), widths, kRightAligned);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].summary) {
      text += aligned_line(lines[i + 1], widths, kRightAligned);
    } else {
      text += fmt::format("{}  broken: {}\n", padded(lines[i + 1].front(), widths.front(), false),
                          runs[i].problem);
    }
  }
  for (const FoundRun& run : runs) {
    if (run.summary && run.summary->state == kFailed)
      text += fmt::format("{} failed: {}\n", one_line(run.path.string()), one_line(run.summary->failure));
  }
  return text;
}

}  // namespace fedarena::results
