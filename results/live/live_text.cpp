#include "results/live/live_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/text.hpp"

#include "results/record/claim_text.hpp"
#include "results/record/test_metrics.hpp"
#include "results/table/notes.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

constexpr std::size_t kHeights = 8;
constexpr std::array<std::string_view, kHeights> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, kHeights> kMarks = {".", ":", "-", "=", "+", "*", "#", "@"};

std::size_t height(double value, double lowest, double highest) {
  if (lowest == highest) return kHeights / 2 - 1;
  // Halves, because the difference of two doubles may be none.
  const double share = (value / 2 - lowest / 2) / (highest / 2 - lowest / 2);
  return std::min(kHeights - 1, static_cast<std::size_t>(share * kHeights));
}

using Line = std::vector<std::string>;

// "2 running, 5 finished".
std::string counts(std::span<const LiveCell* const> cells) {
  std::vector<std::string> parts;
  for (const std::string_view name : kWorkNames) {
    const auto count =
        std::ranges::count(cells, name, [](const LiveCell* cell) { return name_of(cell->work); });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string headline(std::span<const LiveCell* const> cells) {
  std::int64_t done = 0;
  std::int64_t rounds = 0;
  std::optional<double> left;
  bool secret = false;  // whether any that runs does not tell
  for (const LiveCell* cell : cells) {
    if (cell->work == Work::kBroken) continue;
    done += cell->done;
    // Rules and budgets end runs early.
    rounds += cell->work == Work::kFinished ? cell->done : cell->summary.rounds;
    secret |= cell->work == Work::kRunning && cell->has_secret_seconds();
    if (cell->seconds_left) left = std::max(left.value_or(0), *cell->seconds_left);
  }
  const std::string time =
      left && !secret ? fmt::format("; {} left for those that run", duration_text(*left)) : std::string();
  const auto waits = [](const LiveCell* cell) { return cell->work == Work::kQueued && cell->done == 0; };
  const std::size_t begun = cells.size() - static_cast<std::size_t>(std::ranges::count_if(cells, waits));
  return fmt::format("{} begun: {}; {} of {} rounds{}", counted(begun, "cell"), counts(cells), done, rounds,
                     time);
}

// A name tells the experiment where there are several, and the folder where a cell of another one has it too.
std::vector<std::string> names_of(std::span<const LiveCell* const> cells) {
  std::set<std::string> experiments;
  for (const LiveCell* cell : cells) {
    if (cell->work != Work::kBroken) experiments.insert(cell->summary.experiment);
  }
  std::vector<std::string> names;
  std::map<std::string, std::set<std::filesystem::path>> folders;
  for (const LiveCell* cell : cells) {
    names.push_back(experiments.size() > 1 ? fmt::format("{}: {}", cell->summary.experiment, cell->name)
                                           : cell->name);
    folders[names.back()].insert(cell->path.parent_path());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (folders[names[i]].size() > 1)
      names[i] = fmt::format("{}: {}", cells[i]->path.parent_path().string(), names[i]);
  }
  return names;
}

const char* assumed_mark(Letters letters) { return letters == Letters::kUnicode ? kAssumedMark : "+"; }

bool shows_assumed(const LiveCell& cell) {
  return cell.done > 0 && !assumption(cell.summary).empty() && is_finite(Claim{.epsilon = cell.epsilon});
}

std::string epsilon_of(const LiveCell& cell, Letters letters) {
  if (!cell.summary.privacy || cell.done == 0) return "";
  return claim_text(Claim{.epsilon = cell.epsilon}) + (shows_assumed(cell) ? assumed_mark(letters) : "");
}

std::string time_text(const LiveCell& cell) {
  if (cell.work == Work::kQueued) return cell.task;
  if (cell.seconds_left) return duration_text(*cell.seconds_left);
  if (!cell.since_written) return "";
  return fmt::format("written {} ago", duration_text(std::max(0.0, *cell.since_written)));
}

// The columns of a table; one that is empty but for its head is left out.
struct Column {
  std::string head;
  bool right = false;
  std::string (*text)(const LiveCell&, Letters);
};

const std::array<Column, 5> kNumbers = {
    {{"rounds", true,
      [](const LiveCell& cell, Letters) { return fmt::format("{}/{}", cell.done, cell.summary.rounds); }},
     {"accuracy", true, [](const LiveCell& cell, Letters) { return accuracy_text(cell); }},
     {"loss", true, [](const LiveCell& cell, Letters) { return cell.loss ? measured(*cell.loss) : ""; }},
     {"epsilon", true, epsilon_of},
     {"s/round", true, [](const LiveCell& cell, Letters) {
        return cell.round_seconds && !cell.has_secret_seconds() ? human_seconds(*cell.round_seconds) : "";
      }}}};

// Where the letter of that number begins, from 0.
std::size_t begin_of_letter(const std::string& text, std::size_t letter) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    const bool begins_letter = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins_letter && seen++ == letter) break;
  }
  return at;
}

// A text within that width: its beginning, or its end, and dots for the rest.
enum class Keep { kBeginning, kEnd };
std::string cut(const std::string& text, std::size_t width, Letters letters, Keep keep) {
  const std::size_t full = display_width(text);
  if (full <= width) return text;
  const std::string dots = letters == Letters::kUnicode ? "…" : "...";
  const std::size_t dots_width = display_width(dots);
  if (width <= dots_width) return std::string(width, '.');
  const std::size_t kept = width - dots_width;
  return keep == Keep::kBeginning ? text.substr(0, begin_of_letter(text, kept)) + dots
                                  : dots + text.substr(begin_of_letter(text, full - kept));
}

// The table of cells that can be read, its head first.
class Table {
 public:
  Table(std::span<const LiveCell* const> cells, const Screen& screen) : screen_(screen) {
    Line head = {"state", "cell"};
    std::vector<const Column*> columns;
    for (const Column& column : kNumbers) {
      const auto any = [&](const LiveCell* cell) {
        return cell->work != Work::kBroken && !column.text(*cell, screen.letters).empty();
      };
      if (std::ranges::none_of(cells, any)) continue;
      columns.push_back(&column);
      head.push_back(column.head);
    }
    right_ = {false, false};
    right_.resize(head.size(), true);
    curve_column_ = head.size();
    head.insert(head.end(), {"curve", "time left"});
    lines_.push_back(head);
    const std::vector<std::string> names = names_of(cells);
    for (std::size_t i = 0; i < cells.size(); ++i) add(*cells[i], columns, names[i]);
    fit();
  }

  std::string head() const { return show(lines_.front()); }
  // `cell`: the one at that place.
  std::string line(std::size_t place, const LiveCell& cell) const {
    if (cell.work != Work::kBroken) return show(lines_[place + 1]);
    return fmt::format("{}  {}: {}", padded(lines_[place + 1].front(), widths_.front(), false),
                       one_line(cell.path.string()), cell.problem);
  }

 private:
  void add(const LiveCell& cell, const std::vector<const Column*>& columns, const std::string& name) {
    if (cell.work == Work::kBroken) {  // takes part in no column but the first
      lines_.push_back({std::string(name_of(cell.work))});
      curves_.emplace_back();
      return;
    }
    Line line = {std::string(name_of(cell.work)), one_line(name)};
    for (const Column* column : columns) line.push_back(column->text(cell, screen_.letters));
    line.insert(line.end(), {"", time_text(cell)});
    lines_.push_back(line);
    curves_.emplace_back(cell.curve);
  }

  // Curves get the room that the other columns leave; where there is none, names are cut: their ends tell
  // cells apart.
  void fit() {
    constexpr std::size_t kShortestName = 12;
    constexpr std::size_t kShortestCurve = 8;
    constexpr std::size_t kLongestCurve = 40;
    const std::size_t wanted = width_but_for_curves() + kShortestCurve;
    const std::size_t longest_name = column_widths(lines_)[kNameColumn];
    if (wanted > screen_.columns) {
      const std::size_t excess = wanted - screen_.columns;
      const std::size_t name = std::max(kShortestName, longest_name - std::min(longest_name, excess));
      for (Line& line : lines_) {
        if (line.size() > kNameColumn) {
          line[kNameColumn] = cut(line[kNameColumn], name, screen_.letters, Keep::kEnd);
        }
      }
    }
    const std::size_t others = width_but_for_curves();
    const std::size_t room = screen_.columns > others ? screen_.columns - others : 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      if (curves_[i].empty()) continue;
      lines_[i + 1][curve_column_] =
          sparkline(curves_[i], std::clamp(room, kShortestCurve, kLongestCurve), screen_.letters);
    }
    widths_ = column_widths(lines_);
  }

  // Before curves are drawn.
  std::size_t width_but_for_curves() const {
    constexpr std::size_t kGap = 2;
    const std::vector<std::size_t> widths = column_widths(lines_);
    const std::size_t all = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
    return all - widths[curve_column_];
  }

  std::string show(const Line& line) const {
    std::string text = aligned_line(line, widths_, right_);
    text.pop_back();
    return text;
  }

  static constexpr std::size_t kNameColumn = 1;

  const Screen& screen_;
  std::vector<Line> lines_;
  std::vector<std::span<const double>> curves_;
  std::vector<bool> right_;
  std::vector<std::size_t> widths_;
  std::size_t curve_column_ = 0;
};

std::vector<std::string> explanations(std::span<const LiveCell* const> cells, Letters letters) {
  std::vector<std::string> notes;
  if (std::ranges::any_of(cells, [](const LiveCell* cell) { return shows_assumed(*cell); }))
    notes.push_back(fmt::format("{} rests on assume = \"poisson\", which nobody has proven right",
                                assumed_mark(letters)));
  if (std::ranges::any_of(cells, &LiveCell::control))
    notes.emplace_back("(control): of an audit, without noise; its epsilon is infinite");
  std::map<std::string, std::size_t> declared;  // how many cells, by what they take as public
  std::map<std::string, std::size_t> warned;    // how many cells, by what is wrong with their delta
  for (const LiveCell* cell : cells) {
    if (!cell->summary.privacy) continue;
    ++declared[public_text(*cell->summary.privacy)];
    ++warned[delta_warning(*cell->summary.privacy)];
  }
  declared.erase("");
  warned.erase("");
  for (const auto& [what, count] : declared) {
    notes.push_back(one_line(
        fmt::format("the epsilon of {} takes as public, beside sizes: {}", counted(count, "cell"), what)));
  }
  for (const auto& [warning, count] : warned) {
    notes.push_back(fmt::format("{}: {}", counted(count, "cell"), warning));
  }
  if (std::ranges::any_of(cells,
                          [](const LiveCell* cell) { return cell->summary.privacy && cell->summary.tuning; }))
    notes.emplace_back(kTrialsNotCovered);
  if (std::ranges::any_of(cells, [](const LiveCell* cell) { return cell->work == Work::kLeft; })) {
    notes.emplace_back(kLeftNote);
  }
  return notes;
}

}  // namespace

std::string accuracy_text(const LiveCell& cell) {
  if (cell.loss && !std::isfinite(*cell.loss)) return "diverged";
  if (cell.accuracy) return percent(*cell.accuracy) + " %";
  return cell.loss ? "RMSE " + measured(root_mean_squared_error(*cell.loss)) : "";
}

std::string sparkline(std::span<const double> values, std::size_t width, Letters letters) {
  const std::size_t count = std::min(width, values.size());
  double lowest = INFINITY;
  double highest = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  std::string line;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[(i + 1) * values.size() / count - 1];
    if (!std::isfinite(value)) {
      line += '!';
      continue;
    }
    line += (letters == Letters::kUnicode ? kBlocks : kMarks)[height(value, lowest, highest)];
  }
  return line;
}

std::string live_text(std::span<const LiveCell> cells, const Screen& screen) {
  std::vector<const LiveCell*> sorted;
  for (const LiveCell& cell : cells) sorted.push_back(&cell);
  std::ranges::stable_sort(sorted, {}, &LiveCell::work);
  const Table table(sorted, screen);
  std::vector<std::string> lines = {headline(sorted)};
  if (!sorted.empty() && sorted.front()->work != Work::kBroken) lines.push_back(table.head());
  const std::vector<std::string> notes = explanations(sorted, screen.letters);
  const std::size_t taken = lines.size() + notes.size();
  const std::size_t room = screen.rows > taken + 1 ? screen.rows - taken : 1;
  const std::size_t shown = sorted.size() > room ? room - 1 : sorted.size();
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(table.line(i, *sorted[i]));
  if (shown < sorted.size()) {
    const std::span<const LiveCell* const> hidden = std::span(sorted).subspan(shown);
    lines.push_back(fmt::format("and {} more: {}", hidden.size(), counts(hidden)));
  }
  lines.insert(lines.end(), notes.begin(), notes.end());
  std::string text;
  for (const std::string& line : lines)
    text += cut(line, screen.columns, screen.letters, Keep::kBeginning) + '\n';
  return text;
}

}  // namespace fedarena::results
