
#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/commands.hpp"
#include "harness/app/temporary_folder.hpp"
#include "results/audit/verify.hpp"
#include "results/bundle/bundle.hpp"
#include "results/record/find_runs.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

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
    for (const std::string& problem : problems) say("broken", problem);
  }

  void say(const std::string& kind, std::string text) const {
    for (const auto& [folder, bundle] : bundles_) {
      for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
        text.replace(at, folder.size(), bundle);
        at += bundle.size();
      }
    }
    fmt::print("{}: {}\n", kind, results::one_line(text));
  }

  // Notes that many runs share are one line.
  void conclude(std::size_t runs) const {
    for (const Note& note : notes_) {
      const std::string which =
          note.runs > 1 ? fmt::format("{} runs, {} the first", note.runs, note.run) : note.run;
      say("note", fmt::format("{}: {}", which, note.text));
    }
    fmt::print("{}: {}, {}, {}\n", differences_ + broken_ == 0 ? "verified" : "not verified",
               counted(runs, "run"), counted(values_, "value"), counted(differences_, "difference"));
    if (differences_ + broken_ == 0) return;
    std::vector<std::string> found;
    if (differences_ > 0) found.push_back("the records hold " + counted(differences_, "difference"));
    if (broken_ > 0) found.push_back(counted(broken_, "run") + " cannot be read");
    throw Error(Complaint{
        .found = fmt::format("{}", fmt::join(found, "; ")),
        .remedy = "Records were edited or damaged, or another version wrote them; run the cell again."});
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
};

int run(const std::vector<fs::path>& paths) {
  Findings findings;
  std::deque<TemporaryFolder> unpacked;
  std::vector<fs::path> folders;
  for (const fs::path& path : paths) {
    if (!fs::is_regular_file(path)) {
      folders.push_back(path);
      continue;
    }
    const TemporaryFolder& folder = unpacked.emplace_back();
    results::unpack_bundle(path, folder.path());
    findings.name_bundle(folder.path(), path);
    folders.push_back(folder.path());
  }
  const std::vector<results::FoundRun> runs = results::find_runs(folders);
  std::vector<results::FoundRun> readable;
  for (const results::FoundRun& found : runs) {
    std::vector<std::string> problems;
    // A file that cannot be read is one that differs from the seal, and others may differ as well.
    try {
      findings.add(results::verify_seal(found), found.path);
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
    if (!found.summary) {
      problems.push_back(fmt::format("{}: {}", found.path.string(), found.problem));
    } else {
      try {
        findings.add(results::verify_run(found.path), found.path);
        findings.add(results::verify_ledger(found.path), found.path);
        readable.push_back(found);
      } catch (const Error& error) {
        problems.emplace_back(error.what());
      }
    }
    findings.broken(problems);
  }
  try {
    findings.add(results::verify_table(readable));
  } catch (const Error& error) {
    // Folders of different experiments need not make one table.
    findings.say("note", fmt::format("no table cell is checked: {}", error.what()));
  }
  findings.conclude(runs.size());
  return kSuccess;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "verify", "Recompute every epsilon, byte count and table cell of runs or bundles from their records.");
  const auto folders = std::make_shared<std::vector<fs::path>>();
  command->add_option("RUN", *folders, "folders with run directories, or bundles")->required();
  command->callback([folders, &action] { action = [folders] { return run(*folders); }; });
}

}  // namespace fedarena
