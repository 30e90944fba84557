#include "harness/runner/run_experiment.hpp"

#include <algorithm>
#include <exception>
#include <latch>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/first_failure.hpp"
#include "fedarena/base/text.hpp"

#include "harness/loader/guarded_algorithm.hpp"
#include "harness/runner/cell_run.hpp"
#include "harness/runner/plan/cell_checks.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/memory.hpp"
#include "harness/runner/plan/noise_fit.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/runner/progress/progress.hpp"
#include "harness/runner/record/environment.hpp"
#include "partitions/card.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

std::int64_t rounds_of(const std::vector<PlannedCell>& cells) {
  std::int64_t rounds = 0;
  for (const PlannedCell& cell : cells) rounds += cell.point->experiment.rounds;
  return rounds;
}

// All cells of a grid, and what they share.
class Arena {
 public:
  Arena(std::vector<PlannedCell> cells, const PluginHost& host, const RunOptions& options,
        const std::atomic<bool>& stop)
      : cells_(std::move(cells)),
        options_(options),
        pool_(options.workers, use_one_torch_thread),
        progress_(options.messages,
                  {.cells = static_cast<std::int64_t>(cells_.size()),
                   .rounds = rounds_of(cells_),
                   .may_end_early = std::ranges::any_of(cells_, &PlannedCell::may_end_early),
                   .hides_sizes = std::ranges::any_of(
                       cells_, [](const PlannedCell& cell) { return cell.algorithm->is_private(); })}),
        resources_{host, inputs_, pool_, stop},
        checks_(resources_, options, [this](const std::string& line) { say_once(line); }) {
    if (options.ranks == nullptr) return;
    crew_.emplace(*options.ranks, pool_, build_identity(host));
    if (crew_->shares_host()) inputs_.hand_on();
  }

  // False when the user stopped it.
  bool run() {
    cells_ = with_found_noise(cells_, resources_, options_.messages,
                              [this](const std::string& line) { say_once(line); });
    std::vector<std::int64_t> needs = checks_.check_all(cells_, options_.resume);
    check_beginnings();
    const std::int64_t budget = memory_budget();
    const auto above = std::ranges::count_if(needs, [&](std::int64_t need) { return need > budget; });
    if (options_.jobs > 1 && above > 0) {
      progress_.say(
          fmt::format("note: {} of {} cells need more than the {} that cells may take, so each of them "
                      "runs alone",
                      above, cells_.size(), results::human_bytes(static_cast<double>(budget))));
    }
    CellQueue queue(std::move(needs), budget);
    work_side_by_side(queue);
    failure_.rethrow();
    if (!failed_cells_.empty()) throw all_failures();
    return !ending_.load();
  }

 private:
  // Of what was begun, the next round says so itself. What an algorithm refuses is no seed's, unlike budgets.
  void check_beginnings() {
    CannotBegin refused;
    std::set<const AlgorithmEntry*> seen;
    for (const PlannedCell& cell : cells_) {
      if (resources_.stop.load(std::memory_order_relaxed)) throw Interrupted();
      const bool is_first = seen.insert(cell.algorithm).second;
      if (!is_first && !has_budget(policy_of(*cell.algorithm))) continue;
      if (recorded_summary(options_.out / cell.folder())) continue;
      try {
        refused.try_cell(cell, [&] { OpenedCell(cell, resources_).simulation().check_next_round(); });
      } catch (const PluginFailure&) {  // which the cell tells when it is its turn
      }
    }
    if (const auto complaint = refused.complaint()) throw Error(*complaint);
  }

  // Bytes of all cells that run at once, once the data is loaded.
  std::int64_t memory_budget() const {
    if (options_.memory == 0) return free_memory() / 10 * 8;  // others need some, too
    return std::max<std::int64_t>(0, options_.memory - inputs_.data_bytes());
  }

  // With a thread for each job. Where there are not enough of them nothing begins, because memory may be as
  // short as threads are.
  void work_side_by_side(CellQueue& queue) {
    const std::size_t lanes = std::min<std::size_t>(static_cast<std::size_t>(options_.jobs), cells_.size());
    bool all_there = false;
    std::latch known(1);
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < lanes) {
        others.emplace_back([&] {
          known.wait();
          if (all_there) work(queue);
        });
      }
    } catch (...) {
      known.count_down();
      throw;
    }
    all_there = true;
    known.count_down();
    work(queue);
  }

  // Runs cells until none is left, or the program itself fails.
  void work(CellQueue& queue) {
    use_one_torch_thread();
    while (const auto index = queue.take()) {
      try {
        if (!run_one(cells_[*index])) end(queue);
      } catch (const AlgorithmFailed& failed) {
        leave_out(*index, failed.complaint);
      } catch (...) {  // whatever it is, the thread that began the run throws it again
        failure_.record(*index, std::current_exception());
        end(queue);
      }
      queue.give_back(*index);
    }
  }

  // No further cell begins, and those at work end at their last complete round.
  void end(CellQueue& queue) {
    ending_.store(true);
    queue.close();
  }

  void leave_out(std::size_t index, const Complaint& complaint) {
    const std::lock_guard lock(mutex_);
    if (cells_.size() > 1) {
      progress_.say(fmt::format("warning: {} failed: {}", cells_[index].name(), complaint.found));
    }
    progress_.leave_out(cells_[index].name(), cells_[index].point->experiment.rounds);
    failed_cells_.emplace(index, complaint);
  }

  // The first failure in full, the others by name.
  Error all_failures() const {
    const auto& [first, why] = *failed_cells_.begin();
    Complaint complaint = why;
    complaint.found = fmt::format("{}: {}", cells_[first].name(), complaint.found);
    std::vector<std::string> others;
    for (const auto& [index, unused] : failed_cells_) {
      if (index != first) others.push_back(cells_[index].name());
    }
    if (!others.empty()) {
      const bool open = !complaint.remedy.empty() && !complaint.remedy.ends_with('.');
      complaint.remedy +=
          fmt::format("{}{}{} failed as well: {}.", open ? "." : "", complaint.remedy.empty() ? "" : " ",
                      counted(others.size(), "other cell"), fmt::join(others, "; "));
    }
    return Error(std::move(complaint));
  }

  void say_once(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (!line.empty() && said_.insert(line).second) progress_.say(line);
  }

  // False when the user stopped it, or another cell failed.
  bool run_one(const PlannedCell& cell) {
    const Experiment& experiment = cell.point->experiment;
    const auto dealt = inputs_.dealt(experiment, cell.seed);
    if (options_.describes_data)
      say_once(
          fmt::format("seed {}: {}", cell.seed,
                      describe(hides_label_counts(*cell.point) ? without_labels(dealt->card) : dealt->card)));
    return run_cell(cell, *dealt, checks_.environment(experiment.device),
                    {.resources = resources_,
                     .options = options_,
                     .ending = ending_,
                     .crew = crew_ ? &*crew_ : nullptr,
                     .progress = progress_});
  }

  std::vector<PlannedCell> cells_;
  const RunOptions& options_;
  WorkPool pool_;
  std::optional<Crew> crew_;
  Progress progress_;
  SharedInputs inputs_;
  const CellResources resources_;
  CellChecks checks_;
  std::mutex mutex_;
  std::set<std::string> said_;
  std::atomic<bool> ending_ = false;
  FirstFailure failure_;
  std::map<std::size_t, Complaint> failed_cells_;
};

}  // namespace

bool run_cells(const std::vector<PlannedCell>& cells, const PluginHost& host, const RunOptions& options,
               const std::atomic<bool>& stop) {
  keep_freed_memory();
  use_one_torch_thread();
  try {
    return Arena(cells, host, options, stop).run();
  } catch (const Interrupted&) {  // while the other ranks made ready, so that nothing was begun
    if (!stop.load() && options.ranks == nullptr)
      throw Error(Complaint{.found = "an algorithm says that it was interrupted, which nobody did"});
    return false;
  }
}

}  // namespace fedarena
