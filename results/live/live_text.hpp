#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "results/live/live_runs.hpp"

namespace fedarena::results {

/// The accuracy of the last evaluated round, "71.20 %", or the error on regression data, or "diverged"; empty
/// before there is one.
std::string accuracy_text(const LiveCell& cell);

/// What a terminal can show.
enum class Letters { kAscii, kUnicode };

/// Values as one line of at most `width` letters, eight heights from the smallest to the largest finite one:
/// "▁▃▅█", or ".:-=+*#@" in ASCII. More values than letters are cut into pieces of equal length, each of
/// which shows its last one. A value that is not a finite number is "!"; equal ones stand in the middle.
std::string sparkline(std::span<const double> values, std::size_t width, Letters letters);

/// Where a text is shown.
struct Screen {
  std::size_t columns = kEndless, rows = kEndless;
  Letters letters = Letters::kUnicode;

  static constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();
};

/// The cells for people: how many there are of each kind, then a line a cell, running ones first and finished
/// ones last, then what needs an explanation. Lines are cut at the screen's edge, and what finds no room is
/// counted in the last line. Ends with a line feed. Cells that have not begun are not recorded and not told.
std::string live_text(std::span<const LiveCell> cells, const Screen& screen);

/// One aligned line a cell, in the given order: path, experiment, algorithm, seed, state, rounds and, when
/// finished, accuracy (RMSE on regression data). "(control)" stands behind the algorithm of one that ran
/// without noise (`is_control`). A broken one shows its path and its problem.
std::string render_list(std::span<const LiveCell> cells);

}  // namespace fedarena::results
