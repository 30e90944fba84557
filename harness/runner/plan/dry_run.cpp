#include "harness/runner/plan/dry_run.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/plan/cell_checks.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/noise_fit.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/runner/plan/time_estimates.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/record/claim_text.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

using Line = std::vector<std::string>;

// Nobody reads more lines, and each opens a simulation.
constexpr std::size_t kMostLines = 100;

// The column of deltas, before that of units: neither is there where nothing is private.
constexpr std::ptrdiff_t kDelta = 6;

constexpr const char* kNotes =
    "\nclients: of a round, of all. examples: dealt to clients. memory: an estimate, beside the data.\n"
    "epsilon (RDP): as planned, of finished cells as recorded; ? where an algorithm does not say what it "
    "will\n"
    "  ask for; whatever it asks for without noise, which no plan says, makes it infinite.\n"
    "downlink: bytes a client and round: the first round's message, encoded; exact unless messages change.\n"
    "uplink: the mean of finished cells of that label, model and data; ~ an estimate: as declared, or one\n"
    "  model, encoded.\n"
    "seconds: of the cell, or the mean of its finished seeds; ~ an estimate: the time of one micro-batch's\n"
    "  gradient, just measured, times the examples that are read, by the workers that have work, in the\n"
    "  relation in which finished cells of that label, model and data took longer, if there are any;\n"
    "  of what privacy keeps secret nothing is told, so that such cells have an estimate also once "
    "finished;\n"
    "  ~> the same for one pass a round, where the algorithm does not say how often it reads them.\n"
    "  Loading data and writing records come on top, which is most of it where cells take seconds.\n";

constexpr const char* kSooner =
    "rounds: the most there can be; a budget of each client's own, or of what nobody planned, and a rule of\n"
    "  [stopping] may end a cell sooner.\n";

std::string progress_text(const std::optional<results::Summary>& found) {
  if (!found) return "not begun";
  return is_finished(found) ? "finished" : fmt::format("{} of {} rounds", found->rounds_done, found->rounds);
}

struct Seconds {
  double value = 0;
  std::string mark = {};
  std::int64_t rounds = 0;  // that it is of
};

constexpr const char* kEstimate = "~";
constexpr const char* kLeast = "~>";

class DryRun {
 public:
  DryRun(std::vector<PlannedCell> cells, const PluginHost& host, const RunOptions& options,
         const std::atomic<bool>& stop)
      : cells_(std::move(cells)),
        options_(options),
        pool_(options.workers, use_one_torch_thread),
        times_(inputs_, pool_),
        resources_{host, inputs_, pool_, stop} {}

  RunDescription description() {
    cells_ = with_found_noise(cells_, resources_, options_.messages,
                              [this](const std::string& line) { notes_ += line + "\n"; });
    needs_ = CellChecks(resources_, options_, [](const std::string& /*line*/) {
             }).check_all(cells_, /*resume=*/true);
    find_kin();
    std::vector<Line> lines = {{"cell", "clients", "examples", "parameters", "rounds", "epsilon (RDP)",
                                "delta", "unit", "downlink", "uplink", "memory", "seconds", "state"}};
    for (std::size_t index = 0; index < cells_.size(); ++index) {
      if (resources_.stop.load(std::memory_order_relaxed)) throw Interrupted();
      const PlannedCell& cell = cells_[index];
      warnings_.insert(
          delta_note(*cell.algorithm, inputs_.dealt(cell.point->experiment, cell.seed)->partition));
      const auto known = seconds_.find(cell.algorithm);
      if (index >= kMostLines && known != seconds_.end()) {
        add_to_sums(index, known->second);
        continue;
      }
      Line line = line_of(index);
      if (index < kMostLines) lines.push_back(std::move(line));
    }
    if (std::ranges::none_of(cells_, [](const PlannedCell& cell) { return cell.algorithm->is_private(); })) {
      for (Line& line : lines) line.erase(line.begin() + kDelta, line.begin() + kDelta + 2);
    }
    // All but the first and the last are numbers.
    std::vector<bool> right_aligned(lines.front().size(), true);
    right_aligned.front() = right_aligned.back() = false;
    std::string taken;
    for (const std::string& data : taken_) taken += data + "\n\n";
    warnings_.erase("");
    for (const std::string& warning : warnings_) notes_ += warning + "\n";
    return {head() + taken + notes_ + (notes_.empty() ? "" : "\n") +
                results::aligned_lines(lines, right_aligned) + more() + sums() + kNotes +
                (may_end_early() ? kSooner : ""),
            cannot_begin_.complaint()};
  }

 private:
  std::string head() const {
    std::set<std::string> points;
    std::set<std::int64_t> seeds;
    for (const PlannedCell& cell : cells_) {
      points.insert(cell.point->name);
      seeds.insert(cell.seed);
    }
    return fmt::format("{}: {}, {}, {}; run directories in {}\n\n", cells_.front().point->experiment.name,
                       counted(cells_.size(), "cell"), counted(points.size(), "point"),
                       counted(seeds.size(), "seed"), options_.out.string());
  }

  bool may_end_early() const { return std::ranges::any_of(cells_, &PlannedCell::may_end_early); }

  Line line_of(std::size_t index) {
    const PlannedCell& cell = cells_[index];
    const Experiment& experiment = cell.point->experiment;
    const Dataset& dataset = inputs_.dataset(experiment);
    if (const std::string taken = taken_words(*cell.point, dataset); !taken.empty()) taken_.insert(taken);
    if (has_proxy(experiment)) taken_.insert("note: " + data_note(experiment, dataset));
    const DealtShares shares = dealt_shares(cell, inputs_);
    const Start start = start_of(cell);
    Seconds seconds = seconds_of(index, start.forecast.rounds);
    seconds.rounds = start.forecast.rounds;
    add_to_sums(index, seconds);
    seconds_.emplace(cell.algorithm, seconds);
    return {cell.folder().string(),
            fmt::format("{} of {}", shares.cohort, shares.clients),
            fmt::format("{}", shares.examples),
            fmt::format("{}", inputs_.model(experiment).layout()->numel()),
            start.forecast.rounds == experiment.rounds
                ? fmt::format("{}", experiment.rounds)
                : fmt::format("{} of {}", start.forecast.rounds, experiment.rounds),
            start.can_begin ? epsilon_of(index, start.forecast) : "-",
            delta_of(cell),
            cell.algorithm->is_private() ? cell.algorithm->privacy.name : "-",
            start.can_begin ? fmt::format("{}", start.downlink) : "-",
            uplink_of(index, start.uplink),
            results::human_bytes(static_cast<double>(needs_[index])),
            seconds.mark + results::human_seconds(seconds.value),
            start.can_begin ? progress_text(found_[index]) : "cannot begin"};
  }

  // What is known before the first round.
  struct Start {
    bool can_begin = false;
    std::size_t downlink = 0;
    std::optional<std::int64_t> uplink = {};
    Forecast forecast = {};
  };

  Start start_of(const PlannedCell& cell) {
    Start start;
    start.can_begin = cannot_begin_.try_cell(cell, [&] {
      OpenedCell opened(cell, resources_);
      Simulation& simulation = opened.simulation();
      simulation.check_next_round();
      start.downlink = simulation.next_downlink().size();
      start.uplink = simulation.uplink_bytes_in(cell.point->experiment.rounds);
      start.forecast = simulation.forecast();
    });
    if (!start.can_begin) return {};
    if (!cell.algorithm->is_private() || !start.forecast.complete)
      start.forecast.rounds = cell.point->experiment.rounds;
    return start;
  }

  std::string epsilon_of(std::size_t index, const Forecast& forecast) const {
    if (!cells_[index].algorithm->is_private()) return "none";
    if (const auto& found = found_[index]; is_finished(found))
      return results::claim_text(found->privacy->rdp);
    return forecast.complete ? results::claim_text(Claim{.epsilon = forecast.epsilon}) : "?";
  }

  static std::string delta_of(const PlannedCell& cell) {
    if (!cell.algorithm->is_private()) return "-";
    return results::short_number(accounting(policy_of(*cell.algorithm)).delta);
  }

  // Finished cells that tell about this one: of the same algorithm and model, wherever they stand in the
  // grid.
  const std::vector<std::size_t>& kin_of(std::size_t index) { return kin_[kin_key(index)]; }

  std::string kin_key(std::size_t index) const {
    const Experiment& experiment = cells_[index].point->experiment;
    return fmt::format("{}\n{}\n{}\n{}", cells_[index].algorithm->label, choice_text(experiment.model),
                       choice_text(experiment.data), experiment.dtype);
  }

  void find_kin() {
    for (std::size_t index = 0; index < cells_.size(); ++index) {
      found_.push_back(recorded_summary(options_.out / cells_[index].folder()));
      // A budget that pays for no round leaves nothing to learn from.
      if (is_finished(found_[index]) && found_[index]->rounds_done > 0) kin_[kin_key(index)].push_back(index);
    }
  }

  // `declared`: what the algorithm says it sends.
  std::string uplink_of(std::size_t index, const std::optional<std::int64_t>& declared) {
    const std::vector<std::size_t>& kin = kin_of(index);
    const auto bytes_of = [&](std::size_t other) { return found_[other]->uplink_bytes_per_client_round; };
    // 0: it is secret.
    if (!kin.empty() && std::ranges::all_of(kin, [&](std::size_t other) { return bytes_of(other) > 0; })) {
      const double sum = std::accumulate(kin.begin(), kin.end(), 0.0, [&](double total, std::size_t other) {
        return total + bytes_of(other);
      });
      return fmt::format("{:.0f}", sum / static_cast<double>(kin.size()));
    }
    if (declared) return fmt::format("~{}", *declared);
    const Model& model = inputs_.model(cells_[index].point->experiment);
    Stream stream(
        {.seed = 0, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
    return fmt::format("~{}", encode(Message{{Key<Params>{"model"}, model.initial(stream)}}).size());
  }

  // What a finished cell took may tell the sizes of samples, which privacy keeps secret.
  bool tells_seconds(std::size_t index) const {
    return is_finished(found_[index]) && !is_secret(results::DrawnSizes::kBatches, found_[index]->privacy);
  }

  double seconds_a_round(std::size_t finished) const {
    const results::Summary& summary = *found_[finished];
    return summary.seconds / static_cast<double>(summary.rounds_done);
  }

  // Of so many rounds.
  Seconds seconds_of(std::size_t index, std::int64_t paid_rounds) {
    const PlannedCell& cell = cells_[index];
    if (tells_seconds(index)) return {found_[index]->seconds};
    const auto rounds = static_cast<double>(paid_rounds);
    const double part = rounds / static_cast<double>(cell.point->experiment.rounds);
    double rates = 0, factors = 0, seeds = 0;
    std::vector<std::size_t> kin = kin_of(index);
    std::erase_if(kin, [this](std::size_t other) { return !tells_seconds(other); });
    for (const std::size_t other : kin) {
      if (cells_[other].algorithm != cell.algorithm) continue;
      rates += seconds_a_round(other);
      ++seeds;
    }
    if (seeds > 0) return {rates / seeds * rounds};
    const TimeEstimate own = times_.of(cell);
    if (kin.empty()) return {own.seconds * part, own.least ? kLeast : kEstimate};
    // They may read other numbers of examples a round.
    for (const std::size_t other : kin) {
      const auto its_rounds = static_cast<double>(cells_[other].point->experiment.rounds);
      factors += seconds_a_round(other) * its_rounds / times_.of(cells_[other]).seconds;
    }
    return {own.seconds * part * factors / static_cast<double>(kin.size()), kEstimate};
  }

  void add_to_sums(std::size_t index, const Seconds& seconds) {
    const auto& summary = found_[index];
    const auto rounds = static_cast<double>(std::max<std::int64_t>(1, seconds.rounds));
    const double done = summary ? std::min(1.0, static_cast<double>(summary->rounds_done) / rounds) : 0;
    if (is_finished(summary)) {
      ++finished_;
    } else {
      seconds_left_ += seconds.value * (1 - done);
      at_least_ |= seconds.mark == kLeast;
    }
  }

  std::string more() const {
    if (cells_.size() <= kMostLines) return {};
    return fmt::format("... and {}, which take as long as the first of their point and algorithm\n",
                       counted(cells_.size() - kMostLines, "more cell"));
  }

  std::string sums() const {
    const bool at_most = may_end_early();
    const char* bound = at_most == at_least_ ? "" : at_most ? "at most " : "at least ";
    const char* unbounded = at_most && at_least_ ? " (some cells may end sooner, others take longer)" : "";
    return fmt::format("\n{} of {} finished; {}about {} s of work left{}, {} of data in memory\n", finished_,
                       counted(cells_.size(), "cell"), bound, results::human_seconds(seconds_left_),
                       unbounded, results::human_bytes(static_cast<double>(inputs_.data_bytes())));
  }

  std::vector<PlannedCell> cells_;
  const RunOptions& options_;
  WorkPool pool_;
  SharedInputs inputs_;
  TimeEstimates times_;
  const CellResources resources_;
  std::vector<std::int64_t> needs_;                     // bytes of each cell
  std::set<std::string> taken_;                         // what data of the user's own are made of
  std::string notes_;                                   // that stand above the cells: noise that was found
  std::set<std::string> warnings_;                      // of deltas that are too large
  std::vector<std::optional<results::Summary>> found_;  // what the folder of each cell tells
  std::map<std::string, std::vector<std::size_t>> kin_;
  std::map<const AlgorithmEntry*, Seconds> seconds_;  // of the first seed's cell
  std::size_t finished_ = 0;
  CannotBegin cannot_begin_;
  double seconds_left_ = 0;
  bool at_least_ = false;
};

}  // namespace

RunDescription describe_run(const std::vector<PlannedCell>& cells, const PluginHost& host,
                            const RunOptions& options, const std::atomic<bool>& stop) {
  use_one_torch_thread();
  return DryRun(cells, host, options, stop).description();
}

}  // namespace fedarena
