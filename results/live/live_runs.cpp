#include "results/live/live_runs.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "results/audit/compute_claim.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"

namespace fedarena::results {
namespace {

Work work_of(const Summary& summary, std::optional<bool> held) {
  if (summary.state == kFinished) return Work::kFinished;
  const bool running = summary.state == kRunning;
  if (held.value_or(running)) return Work::kRunning;
  if (summary.state == kFailed) return Work::kFailed;
  return running ? Work::kLeft : Work::kInterrupted;
}

std::string name_of(const Summary& summary, bool control) {
  const std::string setting = sweep_text(summary.sweep);
  return fmt::format("{}{}{}, seed {}{}", setting, setting.empty() ? "" : ", ", summary.label, summary.seed,
                     control ? " (control)" : "");
}

// What is claimed at the end may be more than what was charged until the last round: see Ledger.
std::optional<double> epsilon_of(const Summary& summary, const RoundRecord& last) {
  const bool claimed = summary.state == kFinished && summary.privacy && summary.privacy->rdp;
  return claimed ? summary.privacy->rdp->epsilon : last.epsilon;
}

// The time that the rounds left will take, less what the one at work has taken, at most a round.
double time_left(double round_seconds, std::int64_t rounds, double since_written) {
  const double begun = std::clamp(since_written, 0.0, round_seconds);
  return std::max(0.0, round_seconds * static_cast<double>(rounds) - begun);
}

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, const std::string& found) {
  throw Error::in(folder, found,
                  {.remedy = "give the output folder of an experiment, such as runs/quickstart"});
}

// Whether the folder holds a run, or something like one, at this moment.
bool holds_runs(const fs::path& folder) {
  try {
    return !find_runs(std::span(&folder, 1)).empty();
  } catch (const Error&) {  // there is none yet, or none any more
    return false;
  }
}

// Whether a run, or a folder that could not be searched, is there still.
bool is_there(const FoundRun& run) {
  std::error_code ignored;
  const bool searched = !run.problem.starts_with("cannot be ");
  return searched ? is_run_directory(run.path) : fs::exists(fs::symlink_status(run.path, ignored));
}

// None where that cannot be told.
std::optional<bool> is_held(const fs::path& folder, const FolderLocks& locks) {
  return locks.known() ? std::optional(locks.holder(folder).has_value()) : std::nullopt;
}

// What `read` makes of a run, or why it cannot be read.
template <typename Read>
LiveCell cell_or_problem(const FoundRun& run, const Read& read) {
  if (!run.summary) return {.path = run.path, .problem = run.problem};
  try {
    return read();
  } catch (const Error& error) {
    return {.path = run.path, .problem = problem_line(error)};
  }
}

// One that ended but was not waited for by its parent is a zombie, and at work no more.
bool is_alive(std::int64_t process) {
  std::ifstream stream(fs::path("/proc") / std::to_string(process) / "stat");
  const std::string status{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = status.rfind(") ");  // the name before it may hold anything
  return name_end != std::string::npos && status.substr(name_end + 2, 1) != "Z";
}

}  // namespace

std::vector<FoundRun> runs_below(std::vector<fs::path> folders) {
  // One without any would be an Error, whatever the others hold.
  if (folders.size() > 1) std::erase_if(folders, [](const fs::path& folder) { return !holds_runs(folder); });
  try {
    return find_runs(folders);
  } catch (const Error&) {  // there is none yet, or none any more
    return {};
  }
}

LiveCell live_cell(const std::filesystem::path& path, const Summary& summary,
                   std::span<const RoundRecord> rounds, std::optional<bool> held, double since_written,
                   const ResolvedSettings& settings) {
  const bool control = is_control(summary, settings), finished = summary.state == kFinished;
  LiveCell cell{.path = path,
                .work = work_of(summary, held),
                .summary = summary,
                .name = name_of(summary, control),
                .control = control,
                .done = finished ? summary.rounds_done : std::ssize(rounds),
                .accuracy = summary.final_test_accuracy,
                .loss = summary.final_test_loss};
  const bool regression =
      std::ranges::none_of(rounds, [](const RoundRecord& round) { return round.test_accuracy.has_value(); });
  double seconds = 0;
  for (const RoundRecord& round : rounds) {
    seconds += round.train_seconds + round.evaluation_seconds;
    if (!round.test_loss) continue;
    cell.accuracy = round.test_accuracy;
    cell.loss = round.test_loss;
    if (regression) cell.curve.push_back(*round.test_loss);
    if (round.test_accuracy) cell.curve.push_back(*round.test_accuracy);
  }
  if (rounds.empty()) return cell;
  cell.epsilon = epsilon_of(summary, rounds.back());
  cell.round_seconds = seconds / static_cast<double>(rounds.size());
  if (cell.work != Work::kFinished) cell.since_written = since_written;
  if (cell.work == Work::kRunning) set_running(cell);
  return cell;
}

void set_running(LiveCell& cell) {
  cell.work = Work::kRunning;
  if (cell.has_secret_seconds() || !cell.round_seconds || !cell.since_written) return;
  cell.seconds_left = time_left(*cell.round_seconds, cell.summary.rounds - cell.done, *cell.since_written);
}

std::vector<LiveCell> cells_of(std::span<const FoundRun> runs, const FolderLocks& locks) {
  std::vector<LiveCell> cells;
  for (const FoundRun& run : runs) {
    cells.push_back(cell_or_problem(run, [&] {
      std::vector<RoundRecord> rounds;
      if (run.summary->state != kFinished) rounds = recorded_rounds(run.path, *run.summary);
      return live_cell(run.path, *run.summary, rounds, is_held(run.path, locks), 0, run.settings);
    }));
  }
  return cells;
}

LiveRuns::LiveRuns(std::vector<fs::path> folders) : folders_(std::move(folders)) {
  for (const fs::path& folder : folders_) {
    std::error_code failure;
    const fs::file_status status = fs::status(folder, failure);
    if (!fs::exists(status)) refuse(folder, "does not exist");
    if (!fs::is_directory(status)) refuse(folder, "is not a folder");
  }
}

std::vector<LiveCell> LiveRuns::look(const FolderLocks& locks, fs::file_time_type now) {
  std::vector<LiveCell> cells;
  for (const FoundRun& run : runs_below(folders_)) {
    LiveCell cell = cell_of(run, locks, now);
    if (cell.problem.empty() || is_there(run)) cells.push_back(std::move(cell));
  }
  return cells;
}

LiveCell LiveRuns::cell_of(const FoundRun& run, const FolderLocks& locks, fs::file_time_type now) {
  return cell_or_problem(run, [&] {
    const std::optional<std::int64_t> holder = locks.holder(run.path);
    if (holder && *holder > 0) processes_.insert(*holder);
    const Reading& reading = read_rounds(run);
    const double since = std::chrono::duration<double>(now - reading.written).count();
    Summary summary = *run.summary;
    if (summary.state != kFinished) summary.privacy = reading.claim;
    return live_cell(run.path, summary, reading.rounds, is_held(run.path, locks), since, run.settings);
  });
}

const LiveRuns::Reading& LiveRuns::read_rounds(const FoundRun& run) {
  const fs::path file = run.path / kRoundsFile;
  std::error_code unreadable;  // the reader below says why
  // Before the file is read: what is written meanwhile is read at the next look.
  const fs::file_time_type written = fs::last_write_time(file, unreadable);
  const std::uintmax_t size = fs::file_size(file, unreadable);
  Reading& reading = readings_[run.path];
  const bool known = reading.size == size && reading.written == written && !reading.rounds.empty();
  // A finished run must have all rounds, which is checked when they are read.
  const bool whole = run.summary->state != kFinished ||
                     std::ssize(reading.rounds) == static_cast<std::ptrdiff_t>(run.summary->rounds_done);
  if (!known || !whole) {
    reading = {.written = written,
               .size = size,
               .rounds = recorded_rounds(run.path, *run.summary),
               .claim = claim_so_far(*run.summary, run.path)};
  }
  return reading;
}

bool LiveRuns::any_process_left() const { return std::ranges::any_of(processes_, is_alive); }

}  // namespace fedarena::results
