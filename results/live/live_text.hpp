#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "results/live/live_cell.hpp"
#include "results/live/sparkline.hpp"

namespace fedarena::results {

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

}  // namespace fedarena::results
