#include <vector>

#include <fmt/format.h>

#include "results/live/live_text.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Line = std::vector<std::string>;

// run, experiment, algorithm, seed, state, rounds, accuracy
const std::vector<bool> kRightAligned = {false, false, false, true, false, true, true};

std::string state_of(const LiveCell& cell) {
  if (cell.work == Work::kFinished) return state_text(cell.summary);
  return fmt::format("{}{}", name_of(cell.work), cell.task.empty() ? "" : fmt::format(" ({})", cell.task));
}

Line line_of(const LiveCell& cell) {
  // A problem is a sentence: it takes part in no column but the first.
  if (cell.work == Work::kBroken) return {one_line(cell.path.string())};
  return {one_line(cell.path.string()),
          one_line(cell.summary.experiment),
          one_line(cell.summary.label) + (cell.control ? " (control)" : ""),
          std::to_string(cell.summary.seed),
          state_of(cell),
          fmt::format("{}/{}", cell.done, cell.summary.rounds),
          accuracy_text(cell)};
}

}  // namespace

std::string render_list(std::span<const LiveCell> cells) {
  std::vector<Line> lines = {{"run", "experiment", "algorithm", "seed", "state", "rounds", "accuracy"}};
  for (const LiveCell& cell : cells) lines.push_back(line_of(cell));
  const std::vector<std::size_t> widths = column_widths(lines);
  std::string text = aligned_line(lines.front(), widths, kRightAligned);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].work != Work::kBroken) {
      text += aligned_line(lines[i + 1], widths, kRightAligned);
    } else {
      text += fmt::format("{}  broken: {}\n", padded(lines[i + 1].front(), widths.front(), false),
                          cells[i].problem);
    }
  }
  for (const LiveCell& cell : cells) {
    if (cell.work != Work::kFailed) continue;
    text += fmt::format("{} failed: {}\n", one_line(cell.path.string()), one_line(cell.summary.failure));
  }
  return text;
}

}  // namespace fedarena::results
