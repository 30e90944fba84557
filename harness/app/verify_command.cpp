#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/app/commands.hpp"
#include "results/find_runs.hpp"
#include "results/text.hpp"
#include "results/verify.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

// What was found in all runs so far.
class Findings {
 public:
  void add(const results::Verification& verification) {
    values_ += verification.values;
    differences_ += verification.differences.size();
    for (const results::Difference& difference : verification.differences) {
      fmt::print("differs: {}\n", describe(difference));
    }
    for (const std::string& note : verification.notes) fmt::print("note: {}\n", note);
  }

  // One broken record must not hide the others.
  void broken(const std::string& problem) {
    ++broken_;
    fmt::print("broken: {}\n", results::one_line(problem));
  }

  void conclude(std::size_t runs) const {
    fmt::print("{}: {}, {}, {}\n", differences_ + broken_ == 0 ? "verified" : "not verified",
               counted(runs, "run"), counted(static_cast<std::size_t>(values_), "value"),
               counted(differences_, "difference"));
    if (differences_ + broken_ == 0) return;
    throw Error(Complaint{
        .found = broken_ == 0 ? fmt::format("the records hold {}", counted(differences_, "difference"))
                              : fmt::format("the records hold {}, and {} cannot be read",
                                            counted(differences_, "difference"), counted(broken_, "of them")),
        .remedy = "They were edited or damaged, or another version wrote them; run the cell again."});
  }

 private:
  static std::string counted(std::size_t number, const std::string& what) {
    return fmt::format("{} {}{}", number, what, number == 1 || what == "of them" ? "" : "s");
  }

  std::int64_t values_ = 0;
  std::size_t differences_ = 0, broken_ = 0;
};

int run(const std::vector<fs::path>& folders) {
  const std::vector<results::FoundRun> runs = results::find_runs(folders);
  Findings findings;
  std::vector<results::FoundRun> readable;
  for (const results::FoundRun& found : runs) {
    if (!found.summary) {
      findings.broken(fmt::format("{}: {}", found.path.string(), found.problem));
      continue;
    }
    try {
      findings.add(results::verify_run(found.path));
      readable.push_back(found);
    } catch (const Error& error) {
      findings.broken(error.what());
    }
  }
  try {
    findings.add(results::verify_table(readable));
  } catch (const Error& error) {
    // Folders of different experiments need not make one table.
    fmt::print("note: no table cell is checked: {}\n", results::one_line(error.what()));
  }
  findings.conclude(runs.size());
  return kSuccess;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "verify", "Recompute every epsilon, byte count and table cell of runs from their records.");
  const auto folders = std::make_shared<std::vector<fs::path>>();
  command->add_option("RUN", *folders, "folders with run directories")->required();
  command->callback([folders, &action] { action = [folders] { return run(*folders); }; });
}

}  // namespace fedarena
