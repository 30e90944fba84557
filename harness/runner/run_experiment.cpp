#include "harness/runner/run_experiment.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
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

#include "fedarena/base/text.hpp"

#include "harness/loader/guarded_algorithm.hpp"
#include "harness/runner/cell_setup.hpp"
#include "harness/runner/plan/cell_checks.hpp"
#include "harness/runner/plan/cell_queue.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/memory.hpp"
#include "harness/runner/plan/planned_summary.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/runner/progress/progress.hpp"
#include "harness/runner/rank_worker.hpp"
#include "harness/runner/record/builds.hpp"
#include "harness/runner/record/cell_record.hpp"
#include "harness/runner/record/environment.hpp"
#include "harness/runner/stopping.hpp"
#include "harness/simulation/simulation.hpp"
#include "partitions/card.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/record/claim_text.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

// An algorithm failed, which need not ail the other cells; what ails a file does.
struct AlgorithmFailed {
  Complaint complaint;
};

// A run whose own canaries contradict its claim must not end as if nothing was the matter.
void check_audit(const results::Summary& summary, const std::filesystem::path& run) {
  if (!summary.audit || !results::contradicts(*summary.audit, *summary.privacy)) return;
  throw AlgorithmFailed{
      {.place = {},
       .found = fmt::format("the audit contradicts the claimed epsilon of {}: {}",
                            results::epsilon_number(*results::claimed_epsilon(*summary.privacy)),
                            results::audit_text(*summary.audit)),
       .remedy = fmt::format("One honest run in twenty at most ends so: run other seeds. If they do as well, "
                             "the mechanism adds less noise than the ledger says. The record in {} is whole",
                             run.string())}};
}

std::int64_t rounds_of(const std::vector<PlannedCell>& cells) {
  std::int64_t rounds = 0;
  for (const PlannedCell& cell : cells) rounds += cell.point->experiment.rounds;
  return rounds;
}

// Calls what calls the algorithm.
template <typename Work>
auto of_algorithm(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    if (!error.complaint().place.file.empty()) throw;
    throw AlgorithmFailed{error.complaint()};
  }
}

// A run of the crew's, where there is one.
class CrewRun {
 public:
  CrewRun(Crew* crew, const std::function<void(Crew&)>& begin) : crew_(crew) {
    if (crew_ != nullptr) begin(*crew_);
  }
  ~CrewRun() {
    try {
      if (crew_ != nullptr) crew_->end();
    } catch (const Interrupted&) {  // the others did not answer in time, and the launcher ends them
    }
  }
  CrewRun(const CrewRun&) = delete;
  CrewRun& operator=(const CrewRun&) = delete;

 private:
  Crew* crew_;
};

// All cells of a grid, and what they share.
class Arena {
 public:
  Arena(const std::vector<PlannedCell>& cells, const PluginHost& host, const RunOptions& options,
        const std::atomic<bool>& stop)
      : cells_(cells),
        host_(host),
        options_(options),
        stop_(stop),
        pool_(options.workers, use_one_torch_thread),
        progress_(options.messages,
                  {.cells = static_cast<std::int64_t>(cells.size()),
                   .rounds = rounds_of(cells),
                   .may_end_early = std::ranges::any_of(cells, &PlannedCell::may_end_early)}) {
    if (options.ranks == nullptr) return;
    crew_.emplace(*options.ranks, pool_, build_identity(host));
    if (crew_->shares_host()) inputs_.hand_on();
  }

  // False when the user stopped it.
  bool run() {
    std::vector<std::int64_t> needs;
    for (const PlannedCell& cell : cells_) {
      if (stop_.load(std::memory_order_relaxed)) return false;
      needs.push_back(prepare(cell));
    }
    check_data(options_.out, data_hashes());
    const std::int64_t budget = memory_budget();
    const auto above =
        std::count_if(needs.begin(), needs.end(), [&](std::int64_t need) { return need > budget; });
    if (options_.jobs > 1 && above > 0) {
      progress_.say(
          fmt::format("note: {} of {} cells need more than the {} that cells may take, so each of them "
                      "runs alone",
                      above, cells_.size(), results::human_bytes(static_cast<double>(budget))));
    }
    CellQueue queue(std::move(needs), budget);
    work_side_by_side(queue);
    if (failure_) std::rethrow_exception(failure_);
    if (!failed_cells_.empty()) throw all_failures();
    return !stopped_;
  }

 private:
  // Bytes of all cells that run at once, once the data is loaded.
  std::int64_t memory_budget() const {
    if (options_.memory == 0) return free_memory() / 10 * 8;  // others need some, too
    return std::max<std::int64_t>(0, options_.memory - inputs_.data_bytes());
  }

  // By the names that summaries have for data sets.
  std::map<std::string, std::string> data_hashes() {
    std::map<std::string, std::string> hashes;
    for (const PlannedCell& cell : cells_) {
      const Experiment& experiment = cell.point->experiment;
      hashes[describe_data(experiment)] = inputs_.data_hash(experiment);
    }
    return hashes;
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

  // Settings that the algorithm itself refuses are a mistake of the experiment file.
  void check_settings(const AlgorithmEntry& entry) const {
    try {
      host_.create(entry.name, entry.settings);
    } catch (const PluginFailure&) {  // which the cell tells when it is its turn
    }
  }

  // Whatever can be said about a cell before anything is trained. Returns the memory that it needs.
  std::int64_t prepare(const PlannedCell& cell) {
    const Experiment& experiment = cell.point->experiment;
    try {
      if (environments_.find(experiment.device) == environments_.end()) {
        const Environment& environment = environments_[experiment.device] =
            observe_environment(host_, options_.workers, experiment.device);
        say_once(slow_blas_warning(environment));
      }
      check_cell(cell, inputs_, [this](const std::string& line) { say_once(line); });
      check_settings(*cell.algorithm);
      const auto dealt = inputs_.dealt(experiment, cell.seed);
      check_partition(options_.out / cell.folder(), recorded_partition(experiment, cell.seed, dealt->card));
      check_plugin_version(options_.out / cell.folder(), environments_.at(experiment.device).json);
      return estimate_memory(cell_size(experiment, *cell.algorithm, inputs_.model(experiment),
                                       std::ssize(dealt->partition), pool_, options_.state_memory));
    } catch (const Error& error) {
      if (cell.point->name.empty()) throw;
      Complaint complaint = error.complaint();
      complaint.found += fmt::format(" (at the point {})", cell.point->name);
      throw Error(std::move(complaint));
    }
  }

  // Runs cells until none is left, or the program itself fails.
  void work(CellQueue& queue) {
    use_one_torch_thread();
    while (const auto index = queue.take()) {
      try {
        if (!run_cell(cells_[*index])) end(queue, nullptr, *index);
      } catch (const AlgorithmFailed& failed) {
        leave_out(*index, failed.complaint);
      } catch (...) {  // whatever it is, the thread that began the run throws it again
        end(queue, std::current_exception(), *index);
      }
      queue.give_back(*index);
    }
  }

  // No further cell begins, and those at work end at their last complete round. Of several failures, that of
  // the first cell is told.
  void end(CellQueue& queue, std::exception_ptr failure, std::size_t index) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    ending_.store(true);
    if (failure && (!failure_ || index < failed_)) {
      failure_ = std::move(failure);
      failed_ = index;
    }
    queue.close();
  }

  void leave_out(std::size_t index, const Complaint& complaint) {
    const std::lock_guard lock(mutex_);
    if (cells_.size() > 1) {
      progress_.say(fmt::format("warning: {} failed: {}", cells_[index].name(), complaint.found));
    }
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

  // Names the clients that have spent their own budgets since `told`.
  void say_spent(const std::string& name, const Simulation& simulation, std::set<std::int64_t>& told) {
    std::vector<std::int64_t> fresh;
    std::ranges::set_difference(simulation.spent(), told, std::back_inserter(fresh));
    told = simulation.spent();
    if (fresh.empty()) return;
    constexpr std::size_t kMost = 5;
    const std::size_t more = fresh.size() - std::min(fresh.size(), kMost);
    const bool one = fresh.size() == 1;
    fresh.resize(fresh.size() - more);
    progress_.say(fmt::format(
        "{}: after round {}, the {} of client{} {}{} {} spent; {} of all clients take no further part", name,
        simulation.rounds_done(), one ? "budget" : "budgets", one ? "" : "s", fmt::join(fresh, ", "),
        more > 0 ? fmt::format(" and {} more", more) : "", one ? "is" : "are", told.size()));
  }

  // False when the user stopped it, or another cell failed.
  bool run_cell(const PlannedCell& cell) {
    const Experiment& experiment = cell.point->experiment;
    const std::string name = cell.name();
    const auto dealt = inputs_.dealt(experiment, cell.seed);
    say_once(
        fmt::format("seed {}: {}", cell.seed,
                    describe(hides_label_counts(experiment) ? without_labels(dealt->card) : dealt->card)));
    CellRecord record(options_.out / cell.folder(), cell.experiment(),
                      environments_.at(experiment.device).json, planned_summary(cell, *dealt, inputs_),
                      options_.resume, recorded_partition(experiment, cell.seed, dealt->card));
    if (record.finished()) {
      progress_.end_cell(name, record.summary(), false);
      check_audit(record.summary(), options_.out / cell.folder());
      return true;
    }
    try {
      if (!play(cell, *dealt, record)) return false;
    } catch (const AlgorithmFailed& failed) {
      record.fail(failed.complaint.found);
      throw;
    }
    progress_.end_cell(name, record.summary(), true);
    if (record.summary().audit)
      progress_.say(fmt::format("{}: audit: {}", name, results::audit_text(*record.summary().audit)));
    check_audit(record.summary(), options_.out / cell.folder());
    return true;
  }

  // From where the record is to its end, or false.
  bool play(const PlannedCell& cell, const PartitionedData& dealt, CellRecord& record) {
    const Experiment& experiment = cell.point->experiment;
    const AlgorithmEntry& entry = *cell.algorithm;
    const std::string name = cell.name();
    const auto algorithm = of_algorithm([&] { return host_.create(entry.name, entry.settings); });
    SimulationSetup setup =
        cell_setup(cell, inputs_, dealt, *algorithm, host_.info(entry.name).plugin, pool_, stop_);
    setup.on_client = [&](std::int64_t done, std::int64_t all) {
      if (ending_.load(std::memory_order_relaxed)) throw Interrupted();
      progress_.client_done(name, done, all);
    };
    setup.crew = crew_ ? &*crew_ : nullptr;
    setup.states = {.memory = options_.state_memory,
                    .file = options_.out / cell.folder() / results::kClientStatesFile};
    // Before the crew begins, where an algorithm that cannot start would be a failure of each rank.
    Simulation simulation = of_algorithm([&] { return Simulation(setup); });
    const CrewRun run(setup.crew, [&](Crew& crew) {
      crew.begin(describe_for_ranks(cell, inputs_), inputs_.for_host(experiment));
    });
    record.restore(simulation);
    progress_.begin_cell(name, simulation.rounds_done(), experiment.rounds);
    StoppingRule rule(experiment.stopping);
    for (const results::RoundRecord& round : record.rounds()) rule.see(round);
    try {
      play_rounds(name, simulation, rule, record);
      of_algorithm([&] {
        if (!rule.stopped().empty()) simulation.charge_rest();
        record.finish(simulation, rule.stopped());
      });
    } catch (const Interrupted&) {  // at the end, an evaluation is left, for which a resumed run has all
      record.interrupt(simulation);
      return false;
    } catch (const AlgorithmFailed&) {  // complete rounds are kept
      record.interrupt(simulation);
      throw;
    }
    return true;
  }

  void play_rounds(const std::string& name, Simulation& simulation, StoppingRule& rule, CellRecord& record) {
    std::set<std::int64_t> spent = simulation.spent();
    try {
      while (!simulation.finished() && rule.stopped().empty()) {
        const results::RoundRecord round = of_algorithm([&] { return simulation.next_round(); });
        record.append(round, simulation);
        progress_.round_done(name, round);
        say_spent(name, simulation, spent);
        rule.see(round);
      }
    } catch (const BudgetSpent&) {
      progress_.say(fmt::format("{}: stopped after round {}: {}", name, simulation.rounds_done(),
                                record.summary().privacy->budget.is_list()
                                    ? "no client's budget pays for another one"
                                    : "the next one would overspend the budget"));
    }
  }

  const std::vector<PlannedCell>& cells_;
  const PluginHost& host_;
  const RunOptions& options_;
  const std::atomic<bool>& stop_;
  WorkPool pool_;
  std::optional<Crew> crew_;
  Progress progress_;
  SharedInputs inputs_;
  std::map<std::string, Environment> environments_;  // by device
  std::mutex mutex_;
  std::set<std::string> said_;
  std::atomic<bool> ending_ = false;
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::size_t failed_ = 0;
  std::map<std::size_t, Complaint> failed_cells_;
};

}  // namespace

bool run_cells(const std::vector<PlannedCell>& cells, const PluginHost& host, const RunOptions& options,
               const std::atomic<bool>& stop) {
  keep_freed_memory();
  use_one_torch_thread();
  check_folders(cells, options.out, options.resume);
  try {
    return Arena(cells, host, options, stop).run();
  } catch (const Interrupted&) {  // while the other ranks made ready, so that nothing was begun
    return false;
  }
}

}  // namespace fedarena
