#include "harness/attack/opened_runs.hpp"

#include <utility>

#include "fedarena/base/error.hpp"

#include "harness/attack/membership.hpp"
#include "results/record/record.hpp"
#include "results/text/text.hpp"

namespace fedarena {

namespace fs = std::filesystem;

OpenedRuns::OpenedRuns(const Catalog& catalog, std::span<const results::FoundRun> asked, std::string device)
    : catalog_(catalog), device_(std::move(device)) {
  for (const results::FoundRun& run : asked) asked_.emplace(fs::weakly_canonical(run.path), run.path);
}

OpenedRun OpenedRuns::open(const fs::path& path) {
  const fs::path canonical = fs::weakly_canonical(path);
  // One at a time: what takes long of it, the inputs make one at a time anyway.
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const FinishedRun>& known = runs_[canonical];
  OpenedRun run = known.lock();
  if (run == nullptr) {
    const auto asked = asked_.find(canonical);
    run = std::make_shared<const FinishedRun>(asked == asked_.end() ? path : asked->second, catalog_, inputs_,
                                              device_);
    known = run;
  }
  return run;
}

std::vector<OpenedRun> OpenedRuns::references_of(const FinishedRun& run, const std::atomic<bool>& stop) {
  const results::Summary& own = run.summary();
  std::vector<OpenedRun> references;
  const fs::path beside = fs::absolute(run.path()).lexically_normal().parent_path();
  for (const results::FoundRun& found : results::find_runs({&beside, 1})) {
    if (!found.summary || found.summary->state != results::kFinished) continue;
    // Before data are loaded for a run of something else.
    if (found.summary->label != own.label || found.summary->dataset != own.dataset ||
        found.summary->seed == own.seed)
      continue;
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
    try {
      OpenedRun other = open(found.path);
      if (are_alike(run, *other)) references.push_back(std::move(other));
    } catch (const Error& error) {  // the others may be enough
      const std::lock_guard lock(mutex_);
      left_out_.emplace(found.path, results::in_one_line(error));
    }
  }
  const std::lock_guard lock(mutex_);
  last_references_ = references;
  return references;
}

std::map<fs::path, std::string> OpenedRuns::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

}  // namespace fedarena
