#include "results/record/find_runs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "fedarena/base/pool.hpp"

#include "results/record/durable_file.hpp"
#include "results/record/seal.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// Also of a link that leads nowhere, which is a summary that cannot be read.
bool has_summary(const fs::path& folder) {
  std::error_code failure;
  return fs::exists(fs::symlink_status(folder / kSummaryFile, failure));
}

FoundRun read_run(const fs::path& folder) {
  FoundRun run{.path = folder};
  if (!has_summary(folder)) {
    run.problem = fmt::format("{}: is missing, and the rest of a run is there", kSummaryFile);
    return run;
  }
  try {
    Summary summary = parse_summary(read_whole_file(folder / kSummaryFile), (folder / kSummaryFile).string());
    std::error_code unseen;
    if (fs::is_regular_file(folder / kExperimentFile, unseen))
      run.settings = resolved_settings(read_whole_file(folder / kExperimentFile));
    // Nobody could tell what it has in common with others.
    if (summary.state == kFinished && !fs::exists(folder / kExperimentFile, unseen)) {
      run.problem = fmt::format("{}: is missing, and the rest of a finished run is there", kExperimentFile);
      return run;
    }
    run.summary = std::move(summary);
  } catch (const Error& error) {
    run.problem = problem_line(error);
  }
  return run;
}

void search(const fs::path& folder, std::vector<FoundRun>& found) {
  if (is_run_directory(folder)) {
    found.push_back(read_run(folder));
    return;
  }
  const auto fail = [&](const char* what, const std::error_code& why) {
    found.push_back({.path = folder, .problem = what + why.message()});
  };
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  while (!failure && entry != fs::directory_iterator()) {
    std::error_code unseen;
    const fs::path& below = entry->path();
    const fs::file_status status = entry->symlink_status(unseen);
    // A folder whose files may be listed and not looked at: anything may be in it.
    if (unseen == std::errc::permission_denied) return fail("cannot be entered: ", unseen);
    // A link to a run is that run; one to a folder of runs could lead back here.
    const bool leads_to_run = fs::is_symlink(status) && is_run_directory(below);
    if (leads_to_run || fs::is_directory(status)) search(below, found);
    entry.increment(failure);
  }
  if (failure) fail("cannot be listed: ", failure);
}

std::vector<FoundRun> search_root(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status))
    throw Error::in(path, "does not exist",
                    {.remedy = "give the output folder of an experiment, such as runs/quickstart"});
  if (!fs::is_directory(status))
    throw Error::in(path, "is not a folder",
                    {.remedy = "give the folder of a run, or one that holds runs, such as runs/quickstart"});
  std::vector<FoundRun> found;
  const fs::path normal = path.lexically_normal();
  const fs::path folder = normal.has_filename() ? normal : normal.parent_path();  // "runs/" is "runs"
  search(folder, found);
  for (FoundRun& run : found) run.folder = folder;
  if (found.empty()) {
    throw Error::in(path, fmt::format("holds no run: there is no {} below it", kSummaryFile),
                    {.remedy = "give the output folder of an experiment, or run one first"});
  }
  return found;
}

// Also of what vanishes meanwhile.
fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(path, ignored);
}

fs::path common_part(const fs::path& left, const fs::path& right) {
  const auto end = std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first;
  fs::path common;
  for (auto part = left.begin(); part != end; ++part) common /= *part;
  return common;
}

// The folder that holds all of these, where a run counts as what its folder holds.
fs::path base_of(std::span<const fs::path> folders) {
  fs::path base;
  for (const fs::path& folder : folders) {
    fs::path real = real_path(folder);
    if (is_run_directory(real)) real = real.parent_path();
    base = base.empty() ? real : common_part(base, real);
  }
  return base;
}

}  // namespace

bool is_run_directory(const fs::path& folder) {
  if (has_summary(folder)) return true;
  std::error_code failure, ignored;
  // A run that is being made has no rounds yet; and a file of that name alone may be anybody's.
  const std::uintmax_t size = fs::file_size(folder / kRoundsFile, failure);
  const bool has_rounds = !failure && size > 0 && fs::exists(folder / kExperimentFile, ignored);
  return has_rounds || fs::exists(folder / kSealFile, ignored) ||
         fs::exists(folder / kCheckpointFile, ignored);
}

std::vector<FoundRun> find_runs(std::span<const fs::path> paths) {
  std::vector<FoundRun> found;
  for (std::size_t place = 0; place < paths.size(); ++place) {
    for (FoundRun& run : search_root(paths[place])) {
      run.folder_place = place;
      found.push_back(std::move(run));
    }
  }
  std::ranges::sort(found, [](const FoundRun& left, const FoundRun& right) {
    return natural_less(left.path.generic_string(), right.path.generic_string());
  });
  // One run may lie below two of the paths.
  std::vector<FoundRun> once;
  std::map<fs::path, std::size_t> seen;
  for (FoundRun& run : found) {
    std::error_code failure;
    const fs::path real = fs::canonical(run.path, failure);
    const auto [known, is_new] = seen.emplace(failure ? run.path : real, once.size());
    if (is_new) {
      once.push_back(std::move(run));
    } else if (FoundRun& first = once[known->second]; run.folder_place < first.folder_place) {
      first.folder = run.folder;
      first.folder_place = run.folder_place;
    }
  }
  return once;
}

void set_aside_unreadable_rounds(std::span<FoundRun> runs) {
  const WorkPool pool(WorkPool::available_cores());
  pool.for_each(runs.size(), [&](std::size_t i) {
    FoundRun& run = runs[i];
    if (!run.summary) return;
    try {
      run.summary->rounds_done = check_recorded_rounds(run.path, *run.summary);
    } catch (const Error& error) {
      run.problem = problem_line(error);
      run.summary.reset();
    }
  });
}

RunDirectory open_one_run(const fs::path& path) {
  const std::vector<FoundRun> found = find_runs({&path, 1});
  if (found.size() == 1) return RunDirectory::open(found.front().path);
  throw Error::in(path, fmt::format("holds {} runs", found.size()),
                  {.allowed = "one run",
                   .remedy = fmt::format("Name one of them, such as {}.", found.front().path.string())});
}

std::string problem_line(const Error& error) {
  Complaint complaint = error.complaint();
  complaint.remedy.clear();
  complaint.place.file = std::filesystem::path(complaint.place.file).filename().string();
  return one_line(Error(std::move(complaint)).what());
}

std::vector<std::string> run_names(std::span<const FoundRun> runs, std::span<const fs::path> folders) {
  const fs::path base = base_of(folders);
  std::vector<std::string> names;
  names.reserve(runs.size());
  for (const FoundRun& run : runs) {
    names.push_back(real_path(run.path).lexically_relative(base).generic_string());
  }
  return names;
}

}  // namespace fedarena::results
