#include "harness/app/results/verify_command.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/temporary_folder.hpp"
#include "harness/config/syntax/document.hpp"
#include "results/audit/audited_run.hpp"
#include "results/bundle/bundle.hpp"
#include "results/record/find_runs.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// How messages end about a file that this user may not read, which tells nothing of what it holds.
const std::string kForbidden = std::generic_category().message(EACCES);

// What was found in all runs so far.
class Findings {
 public:
  // Messages about files below `folder` name them as if they lay in `bundle`.
  void name_bundle(const fs::path& folder, const fs::path& bundle) {
    bundles_.emplace_back(folder.string(), bundle.string());
  }

  // Of one run, or of the table that several make, which has no notes.
  void add(const results::Verification& verification, const fs::path& run = {}) {
    values_ += verification.values;
    differences_ += verification.differences.size();
    for (const results::Difference& difference : verification.differences) {
      say("differs", describe(difference));
    }
    for (const std::string& note : verification.notes) {
      const auto same = std::ranges::find(notes_, note, &Note::text);
      if (same != notes_.end())
        ++same->runs;
      else
        notes_.push_back({.text = note, .run = run.string(), .runs = 1});
    }
  }

  // Of one run, which must not hide the others; none: it can be read.
  void broken(const std::vector<std::string>& problems) {
    broken_ += problems.empty() ? 0 : 1;
    for (const std::string& problem : problems) {
      say("broken", problem);
      damaged_ = damaged_ || !problem.ends_with(kForbidden);
    }
  }

  void say(const std::string& kind, std::string text) const {
    for (const auto& [folder, bundle] : bundles_) {
      for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
        text.replace(at, folder.size(), bundle);
        at += bundle.size();
      }
    }
    print("{}: {}\n", kind, results::one_line(text));
  }

  // Notes that many runs share are one line.
  void conclude(std::size_t runs, bool with_data) const {
    for (const Note& note : notes_) {
      const std::string which =
          note.runs > 1 ? fmt::format("{} runs, {} the first", note.runs, note.run) : note.run;
      say("note", fmt::format("{}: {}", which, note.text));
    }
    print("{}: {}, {}, {}\n", differences_ + broken_ == 0 ? "verified" : "not verified", counted(runs, "run"),
          counted(values_, "value"), counted(differences_, "difference"));
    if (differences_ + broken_ == 0) return;
    std::vector<std::string> found;
    if (differences_ > 0) found.push_back("the records hold " + counted(differences_, "difference"));
    const bool forbidden = differences_ == 0 && !damaged_;
    if (broken_ > 0)
      found.push_back(counted(broken_, "run") + " cannot be read" + (forbidden ? ": " + kForbidden : ""));
    throw Error(Complaint{
        .found = fmt::format("{}", fmt::join(found, "; ")),
        .remedy = forbidden
                      ? "Change the permissions of these files, or ask whom they belong to."
                      : fmt::format("Records were edited or damaged, or another version wrote them: restore "
                                    "them, or remove the run directory and run this cell again.{}",
                                    with_data ? " Or what --data needs is not here: their data, or a plugin "
                                                "(--plugin-path)."
                                              : "")});
  }

 private:
  struct Note {
    std::string text;
    std::string run;  // the first that has it
    std::size_t runs = 1;
  };

  std::vector<std::pair<std::string, std::string>> bundles_;
  std::vector<Note> notes_;
  std::int64_t values_ = 0;
  std::size_t differences_ = 0, broken_ = 0;
  bool damaged_ = false;  // any of the broken ones; not those whose files somebody may not read
};

// The folders to look for runs in: bundles are unpacked.
std::vector<fs::path> folders_of(const std::vector<fs::path>& paths, std::deque<TemporaryFolder>& unpacked,
                                 Findings& findings) {
  std::vector<fs::path> folders;
  for (const fs::path& path : paths) {
    if (!fs::is_regular_file(path)) {
      folders.push_back(path);
      continue;
    }
    const TemporaryFolder& folder = unpacked.emplace_back();
    try {
      results::unpack_bundle(path, folder.path(), &folder.stop());
    } catch (const Error& error) {
      if (paths.size() == 1) throw;
      findings.broken({results::in_one_line(error)});
      continue;
    }
    findings.name_bundle(folder.path(), path);
    folders.push_back(folder.path());
  }
  return folders;
}

// Whether the run could be read to its end.
bool verify(const results::FoundRun& run, const VerifyData& verify_data, results::TrialFolders& trials,
            Findings& findings) {
  std::vector<std::string> problems;
  // Seal and run may fail alike.
  const auto add = [&](const std::string& problem, const std::string& where = {}) {
    if (problems.empty() || !problems.front().ends_with(problem)) problems.push_back(where + problem);
  };
  bool readable = false;
  // A file that cannot be read is one that differs from the seal, and others may differ as well.
  try {
    findings.add(results::verify_seal(run), run.path);
  } catch (const Error& error) {
    add(results::in_one_line(error, run.path.string()));
  }
  if (!run.summary) {
    add(run.problem, run.path.string() + ": ");
  } else {
    try {
      // What reads single settings would not notice what else is there.
      (void)config::read_document(run.path / results::kExperimentFile);
      const results::AuditedRun audited(run.path);
      findings.add(results::verify_run(audited), run.path);
      findings.add(results::verify_ledger(audited), run.path);
      findings.add(results::verify_tuning(run, trials), run.path);
      if (verify_data) findings.add(verify_data(run.path), run.path);
      readable = true;
    } catch (const Error& error) {
      add(results::in_one_line(error, run.path.string()));
    }
  }
  findings.broken(problems);
  return readable;
}

int run(const std::vector<fs::path>& paths, const VerifyData& verify_data) {
  Findings findings;
  std::deque<TemporaryFolder> unpacked;
  const std::vector<fs::path> folders = folders_of(paths, unpacked, findings);
  std::vector<results::FoundRun> runs;
  if (!folders.empty()) runs = results::find_runs(folders);
  std::vector<results::FoundRun> readable;
  results::TrialFolders trials;
  for (const results::FoundRun& run : runs) {
    if (!unpacked.empty()) unpacked.front().check_stop();
    if (verify(run, verify_data, trials, findings)) readable.push_back(run);
  }
  findings.add(results::verify_common_data(readable));
  try {
    findings.add(results::verify_table(readable));
  } catch (const Error& error) {
    // Folders of different experiments need not make one table.
    findings.say("note", fmt::format("no table cell is checked: {}", results::in_one_line(error)));
  }
  findings.conclude(runs.size(), static_cast<bool>(verify_data));
  return kSuccess;
}

struct VerifyArguments {
  std::vector<fs::path> folders, plugin_path;
  bool data = false;
  MakeVerifyData make_verify_data = {};
};

int run_verify(const VerifyArguments& arguments) {
  if (!arguments.data) return run(arguments.folders, {});
  FEDARENA_CHECK(arguments.make_verify_data != nullptr, ==, true);
  return run(arguments.folders, arguments.make_verify_data(arguments.plugin_path));
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action, const MakeVerifyData& make_verify_data) {
  const auto [command, arguments] = add_command(
      app, action, run_verify, "verify",
      "Recompute every epsilon, byte count and table cell of runs or bundles from their records.");
  arguments.make_verify_data = make_verify_data;
  command.add_option("RUN", arguments.folders, "folders with run directories, or bundles")->required();
  command.add_flag("--data", arguments.data,
                   "also load the data of each run and compare them with the recorded hash, and the "
                   "partition with the one that they give");
  add_plugin_path(command, arguments.plugin_path);
}

void add_verify_command(CLI::App& app, Action& action) { add_verify_command(app, action, {}); }

}  // namespace fedarena
