#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "harness/runner/finished_run.hpp"
#include "harness/runner/plan/catalog.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena {

/// A finished run that several attacks may ask at once; in memory for as long as anybody holds it.
using OpenedRun = std::shared_ptr<const FinishedRun>;

/// Opens the runs that attacks ask, each once while it is in use. Safe to call from several threads.
class OpenedRuns {
 public:
  /// `asked`: the runs that are attacked, whose paths are told as they are written there, whoever asks them
  /// first. `device`: as FinishedRun takes it. `catalog` must outlive it, and it the runs.
  OpenedRuns(const Catalog& catalog, std::span<const results::FoundRun> asked, std::string device);

  /// Throws Error where FinishedRun does.
  OpenedRun open(const std::filesystem::path& path);
  /// The finished runs beside a run that differ from it in the seed alone, in natural order of their paths.
  /// They stay in memory until the next call, which asks mostly the same. Those that open() refuses are left
  /// out. Throws Interrupted once `stop` is set.
  std::vector<OpenedRun> references_of(const FinishedRun& run, const std::atomic<bool>& stop);
  /// Why runs were left out so far, by their paths.
  std::map<std::filesystem::path, std::string> left_out() const;
  SharedInputs& inputs() { return inputs_; }

 private:
  const Catalog& catalog_;
  std::string device_;
  SharedInputs inputs_;
  std::map<std::filesystem::path, std::filesystem::path> asked_;  // by canonical path, as the others
  mutable std::mutex mutex_;
  std::map<std::filesystem::path, std::weak_ptr<const FinishedRun>> runs_;
  std::vector<OpenedRun> last_references_;
  std::map<std::filesystem::path, std::string> left_out_;
};

}  // namespace fedarena
