#include "results/live/live_runs.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "results/record/find_runs.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, const std::string& found) {
  throw Error(Complaint{.place = {.file = folder.string()},
                        .found = found,
                        .allowed = {},
                        .nearest = {},
                        .remedy = "give the output folder of an experiment, such as runs/quickstart"});
}

// Whether the folder holds a run, or something like one, at this moment.
bool holds_runs(const fs::path& folder) {
  try {
    return !find_runs(std::span(&folder, 1)).empty();
  } catch (const Error&) {  // there is none yet, or none any more
    return false;
  }
}

// Those of all folders that hold any, each once.
std::vector<FoundRun> runs_below(std::vector<fs::path> folders) {
  // One without any would be an Error, whatever the others hold.
  if (folders.size() > 1) std::erase_if(folders, [](const fs::path& folder) { return !holds_runs(folder); });
  try {
    return find_runs(folders);
  } catch (const Error&) {  // there is none yet, or none any more
    return {};
  }
}

// Whether a run, or what could not be listed, is there still.
bool is_there(const FoundRun& run) {
  std::error_code ignored;
  const fs::path marker = run.path / kSummaryFile;
  const bool listed = !run.problem.starts_with("cannot be listed");
  return fs::exists(fs::symlink_status(listed ? marker : run.path, ignored));
}

// One that ended but was not waited for by its parent is a zombie, and at work no more.
bool is_alive(std::int64_t process) {
  std::ifstream stream(fs::path("/proc") / std::to_string(process) / "stat");
  const std::string status{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = status.rfind(") ");  // the name before it may hold anything
  return name_end != std::string::npos && status.substr(name_end + 2, 1) != "Z";
}

}  // namespace

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
  if (!run.summary) return {.path = run.path, .problem = run.problem};
  const std::optional<std::int64_t> holder = locks.holder(run.path);
  if (holder && *holder > 0) processes_.insert(*holder);
  try {
    const Reading& reading = read_rounds(run);
    const double since = std::chrono::duration<double>(now - reading.written).count();
    return live_cell(run.path, *run.summary, reading.rounds,
                     locks.known() ? std::optional(holder.has_value()) : std::nullopt, since);
  } catch (const Error& error) {
    return {.path = run.path, .problem = problem_line(error)};
  }
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
    reading = {.written = written, .size = size, .rounds = recorded_rounds(run.path, *run.summary)};
  }
  return reading;
}

bool LiveRuns::any_process_left() const { return std::ranges::any_of(processes_, is_alive); }

}  // namespace fedarena::results
