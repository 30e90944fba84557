#include "harness/runner/cell_run.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/text.hpp"

#include "harness/runner/rank_worker.hpp"
#include "harness/runner/record/builds.hpp"
#include "harness/runner/record/cell_record.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/record/claim_text.hpp"
#include "results/record/validation.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

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

class CellRun {
 public:
  CellRun(const PlannedCell& cell, const PartitionedData& dealt, const results::Json& environment,
          const SharedRun& shared)
      : cell_(cell),
        experiment_(cell.point->experiment),
        dealt_(dealt),
        shared_(shared),
        name_(cell.name()),
        folder_(shared.options.out / cell.folder()),
        environment_(environment),
        record_(folder_, cell.experiment(), environment,
                planned_summary(cell, dealt, shared.resources.inputs), shared.options.resume,
                recorded_partition(experiment_, cell.seed, dealt.card)) {}

  bool run() {
    const bool ran = !record_.finished();
    if (ran && !play()) return false;
    const results::Summary& summary = record_.summary();
    const bool is_old = !ran && is_of_another_build(folder_, environment_, summary.algorithm);
    shared_.progress.end_cell(name_, summary,
                              ran      ? ""
                              : is_old ? "finished before, by another build of fedarena or of the plugin"
                                       : "finished before");
    if (ran && summary.audit) say(fmt::format("audit: {}", results::audit_text(*summary.audit)));
    check_audit();
    return true;
  }

 private:
  void say(const std::string& text) const { shared_.progress.say(fmt::format("{}: {}", name_, text)); }

  // A run whose own canaries contradict its claim must not end as if nothing was the matter.
  void check_audit() const {
    const results::Summary& summary = record_.summary();
    if (!summary.audit || !results::contradicts(*summary.audit, *summary.privacy)) return;
    throw AlgorithmFailed{
        {.found = fmt::format("the audit contradicts the claimed epsilon of {}: {}",
                              results::epsilon_number(*results::claimed_epsilon(*summary.privacy)),
                              results::audit_text(*summary.audit)),
         .remedy =
             fmt::format("One honest run in twenty at most ends so: run other seeds. If they do as well, "
                         "the mechanism adds less noise than the ledger says. The record in {} is whole",
                         folder_.string())}};
  }

  // From where the record is to its end, or false.
  bool play() {
    try {
      return simulate();
    } catch (const AlgorithmFailed& failed) {
      record_.fail(failed.complaint.found);
      throw;
    }
  }

  bool simulate() {
    const AlgorithmEntry& entry = *cell_.algorithm;
    const auto algorithm = begun([&] { return shared_.resources.host.create(entry.name, entry.settings); });
    SimulationSetup setup = cell_setup(cell_, dealt_, *algorithm, shared_.resources);
    setup.on_client = [&](std::int64_t done, std::int64_t all) {
      if (shared_.ending.load(std::memory_order_relaxed)) throw Interrupted();
      shared_.progress.client_done(name_, done, all);
    };
    setup.crew = shared_.crew;
    setup.states = {.memory = shared_.options.state_memory, .file = folder_ / results::kClientStatesFile};
    // Before the crew begins, where an algorithm that cannot start would be a failure of each rank.
    Simulation simulation = begun([&] { return Simulation(setup); });
    const CrewRun run(setup.crew, [&](Crew& crew) {
      crew.begin(describe_for_ranks(cell_, shared_.resources.inputs),
                 shared_.resources.inputs.for_host(experiment_));
    });
    say_where_it_goes_on(simulation, record_.restore(simulation));
    shared_.progress.begin_cell(name_, simulation.rounds_done(), experiment_.rounds);
    const Stopping& stopping = experiment_.stopping;
    results::StoppingRule rule({.target_accuracy = stopping.target_accuracy,
                                .patience = stopping.patience,
                                .improvement = stopping.improvement},
                               experiment_.evaluation.every);
    for (const results::RoundRecord& round : record_.rounds()) rule.see(round);
    try {
      play_rounds(simulation, rule);
      answered(simulation, "after its last round", [&] {
        if (!rule.stopped().empty()) simulation.charge_rest();
        record_.finish(simulation, rule.stopped());
      });
    } catch (const Interrupted&) {  // at the end, an evaluation is left, for which a resumed run has all
      record_.interrupt(simulation);
      refuse_unasked();
      return false;
    } catch (const AlgorithmFailed&) {  // complete rounds are kept
      record_.interrupt(simulation);
      throw;
    } catch (const Error&) {  // of a file that cannot be written, mostly
      record_.leave();
      throw;
    }
    return true;
  }

  // Of a run that was left. `dropped`: rounds that were made after its last checkpoint.
  void say_where_it_goes_on(const Simulation& simulation, std::int64_t dropped) const {
    const std::int64_t done = simulation.rounds_done();
    if (done == 0 && dropped == 0) return;
    const std::string again = dropped == 0
                                  ? ""
                                  : fmt::format("; {} made after its last checkpoint {} made again",
                                                counted(dropped, "round"), dropped == 1 ? "is" : "are");
    say(done == 0 ? fmt::format("begins again: no checkpoint holds its {} so far", counted(dropped, "round"))
                  : fmt::format("goes on after round {}{}", done, again));
  }

  // Where an algorithm says that it was interrupted.
  void refuse_unasked() const {
    if (shared_.resources.stop.load() || shared_.ending.load() || shared_.crew != nullptr) return;
    throw AlgorithmFailed{{.found = "the algorithm says that it was interrupted, which nobody did"}};
  }

  template <typename Begin>
  auto begun(const Begin& begin) const -> decltype(begin()) {
    try {
      return of_algorithm(begin);
    } catch (const Interrupted&) {
      refuse_unasked();
      throw;
    }
  }

  // Calls what has the algorithm ask for answers. Another attempt draws other noise where nobody can draw the
  // same again, and only complete rounds are charged: what an algorithm says of its failure may rest on
  // answers that are not. `when`: "in round 3".
  template <typename Work>
  static auto answered(const Simulation& simulation, const std::string& when, const Work& work)
      -> decltype(work()) {
    try {
      return of_algorithm(work);
    } catch (const AlgorithmFailed&) {
      if (simulation.repeatable()) throw;
      throw AlgorithmFailed{
          {.found = fmt::format("the algorithm failed {}; why is not said, because the answers of work that "
                                "fails are not charged",
                                when),
           .remedy = "To see why, run it with noise_source = \"stream\""}};
    }
  }

  void play_rounds(Simulation& simulation, results::StoppingRule& rule) {
    std::set<std::int64_t> spent = simulation.spent();
    try {
      while (!simulation.finished() && rule.stopped().empty()) {
        const results::RoundRecord round =
            answered(simulation, fmt::format("in round {}", simulation.rounds_done() + 1),
                     [&] { return simulation.next_round(); });
        record_.append(round, simulation);
        shared_.progress.round_done(name_, round);
        say_spent(simulation, spent);
        rule.see(round);
      }
    } catch (const BudgetSpent&) {
      say(fmt::format("stopped after round {}: {}", simulation.rounds_done(),
                      record_.summary().privacy->budget.is_list()
                          ? "no client's budget pays for another one"
                          : "the next one would overspend the budget"));
    }
  }

  // Names the clients that have spent their own budgets since `told`.
  void say_spent(const Simulation& simulation, std::set<std::int64_t>& told) const {
    std::vector<std::int64_t> fresh;
    std::ranges::set_difference(simulation.spent(), told, std::back_inserter(fresh));
    told = simulation.spent();
    if (fresh.empty()) return;
    constexpr std::size_t kMost = 5;
    const std::size_t more = fresh.size() - std::min(fresh.size(), kMost);
    const bool one = fresh.size() == 1;
    fresh.resize(fresh.size() - more);
    say(fmt::format(
        "after round {}, the {} of client{} {}{} {} for no further round; {} of all clients take no further "
        "part",
        simulation.rounds_done(), one ? "budget" : "budgets", one ? "" : "s", fmt::join(fresh, ", "),
        more > 0 ? fmt::format(" and {} more", more) : "", one ? "pays" : "pay", told.size()));
  }

  const PlannedCell& cell_;
  const Experiment& experiment_;
  const PartitionedData& dealt_;
  const SharedRun& shared_;
  std::string name_;
  std::filesystem::path folder_;
  const results::Json& environment_;
  CellRecord record_;
};

}  // namespace

bool run_cell(const PlannedCell& cell, const PartitionedData& dealt, const results::Json& environment,
              const SharedRun& shared) {
  return CellRun(cell, dealt, environment, shared).run();
}

}  // namespace fedarena
