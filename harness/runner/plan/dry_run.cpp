#include "harness/runner/plan/dry_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/runner/plan/changed_cells.hpp"
#include "harness/runner/plan/memory.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

using Clock = std::chrono::steady_clock;
using Line = std::vector<std::string>;

// Forward passes take about a third of a gradient.
constexpr double kForwardShare = 1.0 / 3;

// Nobody reads more lines, and each deals a partition.
constexpr std::size_t kMostLines = 100;

constexpr const char* kNotes =
    "\nclients: of a round, of all. examples: dealt to clients. memory: an estimate, beside the data.\n"
    "downlink: bytes a client and round: the first round's message, encoded; exact unless messages change.\n"
    "uplink: the mean of finished cells of that label, model and data; ~ an estimate: one model, encoded.\n"
    "seconds: of the cell, or the mean of finished cells of that label, model and data; ~ an estimate: the\n"
    "  time of one micro-batch's gradient, just measured, times the examples that are read, by the workers;\n"
    "  ~> the same for one pass a round, where the algorithm does not say how often it reads them.\n";

constexpr const char* kSooner =
    "rounds: the most there can be; a budget or a rule of [stopping] may end a cell sooner.\n";

// What the folder of a cell tells.
struct Found {
  std::string state = "not begun";
  std::optional<results::Summary> summary = {};
};

Found look_at(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / results::kSummaryFile, ignored)) return {};
  const results::Summary summary = results::RunDirectory::open(folder).summary();
  const bool finished = summary.state == results::kFinished;
  return {finished ? "finished" : fmt::format("{} of {} rounds", summary.rounds_done, summary.rounds),
          summary};
}

std::optional<double> number(const Settings& settings, const std::string& name) {
  for (const auto& [key, value] : settings) {
    const auto* found = std::get_if<std::int64_t>(&value);
    if (key == name && found != nullptr) return static_cast<double>(*found);
  }
  return std::nullopt;
}

struct Seconds {
  double value = 0;
  std::string mark = {};
};

class DryRun {
 public:
  DryRun(const std::vector<PlannedCell>& cells, const PluginHost& host, const RunOptions& options)
      : cells_(cells), host_(host), options_(options), pool_(options.workers, use_one_torch_thread) {}

  std::string text() {
    find_kin();
    std::vector<Line> lines = {{"cell", "clients", "examples", "parameters", "rounds", "downlink", "uplink",
                                "memory", "seconds", "state"}};
    for (std::size_t index = 0; index < cells_.size(); ++index) {
      const auto known = seconds_.find({cells_[index].point, cells_[index].algorithm});
      if (index >= kMostLines && known != seconds_.end()) {
        add_to_sums(index, known->second);
        continue;
      }
      Line line = line_of(index);
      if (index < kMostLines) lines.push_back(std::move(line));
    }
    // All but the first and the last are numbers.
    std::vector<bool> right_aligned(lines.front().size(), true);
    right_aligned.front() = right_aligned.back() = false;
    std::string taken;
    for (const std::string& data : taken_) taken += data + "\n\n";
    return head() + taken + results::aligned_lines(lines, right_aligned) + more() + sums() + kNotes +
           (may_end_early() ? kSooner : "");
  }

 private:
  std::string head() const {
    std::set<const GridPoint*> points;
    std::set<std::int64_t> seeds;
    for (const PlannedCell& cell : cells_) {
      points.insert(cell.point);
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
    if (const std::string& taken = inputs_.dataset(experiment).taken; !taken.empty()) taken_.insert(taken);
    if (experiment.proxy.name != kNoProxy)
      taken_.insert("note: " + data_note(experiment, inputs_.dataset(experiment)));
    const Model& model = inputs_.model(experiment);
    const auto dealt = inputs_.dealt(experiment, cell.seed);
    const auto clients = static_cast<std::int64_t>(dealt->partition.size());
    std::int64_t examples = 0;
    for (const auto& shard : dealt->partition) examples += static_cast<std::int64_t>(shard.size());
    const std::int64_t cohort = experiment.cohort_size(clients);
    const Seconds seconds = seconds_of(index, examples, clients, cohort);
    add_to_sums(index, seconds.value);
    seconds_.emplace(std::pair(cell.point, cell.algorithm), seconds.value);
    return {cell.folder().string(),
            fmt::format("{} of {}", cohort, clients),
            fmt::format("{}", examples),
            fmt::format("{}", model.layout()->numel()),
            fmt::format("{}", experiment.rounds),
            fmt::format("{}", downlink_of(cell, *dealt, cohort)),
            uplink_of(index),
            results::human_bytes(static_cast<double>(estimate_memory(
                cell_size(experiment, *cell.algorithm, model, clients, pool_, options_.state_memory)))),
            seconds.mark + results::human_seconds(seconds.value),
            found_[index].state};
  }

  std::size_t downlink_of(const PlannedCell& cell, const PartitionedData& dealt, std::int64_t cohort) {
    const Experiment& experiment = cell.point->experiment;
    const AlgorithmEntry& entry = *cell.algorithm;
    const std::unique_ptr<const Algorithm> algorithm = host_.create(entry.name, entry.settings);
    Simulation simulation({.dataset = inputs_.dataset(experiment),
                           .partition = dealt.partition,
                           .model = inputs_.model(experiment),
                           .algorithm = *algorithm,
                           .pool = pool_,
                           .stop = never_,
                           .seed = static_cast<std::uint64_t>(cell.seed),
                           .rounds = experiment.rounds,
                           .cohort_size = cohort,
                           .policy = make_policy(entry.privacy.name, entry.privacy.settings),
                           .proxy = inputs_.proxy(experiment)});
    return simulation.next_downlink().size();
  }

  // Finished cells that tell about this one: of the same algorithm and model, wherever they stand in the
  // grid.
  const std::vector<const results::Summary*>& kin_of(std::size_t index) { return kin_[kin_key(index)]; }

  std::string kin_key(std::size_t index) const {
    const Experiment& experiment = cells_[index].point->experiment;
    return fmt::format("{}\n{}\n{}", cells_[index].algorithm->label, choice_text(experiment.model),
                       choice_text(experiment.data));
  }

  void find_kin() {
    for (std::size_t index = 0; index < cells_.size(); ++index) {
      found_.push_back(look_at(options_.out / cells_[index].folder()));
    }
    for (std::size_t index = 0; index < cells_.size(); ++index) {
      const auto& summary = found_[index].summary;
      if (summary && summary->state == results::kFinished) kin_[kin_key(index)].push_back(&*summary);
    }
  }

  std::string uplink_of(std::size_t index) {
    const std::vector<const results::Summary*>& kin = kin_of(index);
    if (!kin.empty()) {
      const double sum = std::accumulate(kin.begin(), kin.end(), 0.0, [](double total, const auto* summary) {
        return total + summary->uplink_bytes_per_client_round;
      });
      return fmt::format("{:.0f}", sum / static_cast<double>(kin.size()));
    }
    const Model& model = inputs_.model(cells_[index].point->experiment);
    Stream stream(
        {.seed = 0, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
    return fmt::format("~{}", encode(Message{{Key<Params>{"model"}, model.initial(stream)}}).size());
  }

  Seconds seconds_of(std::size_t index, std::int64_t examples, std::int64_t clients, std::int64_t cohort) {
    const Experiment& experiment = cells_[index].point->experiment;
    if (found_[index].summary && found_[index].summary->state == results::kFinished)
      return {found_[index].summary->seconds};
    const std::vector<const results::Summary*>& kin = kin_of(index);
    if (!kin.empty()) {
      double rate = 0;
      for (const results::Summary* summary : kin)
        rate += summary->seconds / static_cast<double>(summary->rounds_done);
      return {rate / static_cast<double>(kin.size()) * static_cast<double>(experiment.rounds)};
    }
    const Settings& settings = cells_[index].algorithm->settings;
    const double shard = static_cast<double>(examples) / static_cast<double>(clients);
    const std::optional<double> epochs = number(settings, "local_epochs");
    const double steps = number(settings, "local_steps").value_or(0);
    const double batch = number(settings, "batch_size").value_or(0);
    const double read = steps > 0 ? steps * (batch > 0 ? batch : shard) : epochs.value_or(1) * shard;
    const auto rounds = static_cast<double>(experiment.rounds);
    const double evaluations = std::max(1.0, rounds / static_cast<double>(experiment.evaluation.every));
    const auto tested = static_cast<double>(inputs_.dataset(experiment).test.size());
    const double work = rounds * static_cast<double>(cohort) * read + evaluations * tested * kForwardShare;
    return {work * seconds_an_example(index) / options_.workers, epochs ? "~" : "~>"};
  }

  // Of the gradient of a batch, one micro-batch at most, clipped example by example where the policy does so;
  // on one core.
  double seconds_an_example(std::size_t index) {
    const Experiment& experiment = cells_[index].point->experiment;
    const AlgorithmEntry& entry = *cells_[index].algorithm;
    const bool clipped =
        std::holds_alternative<RecordPolicy>(make_policy(entry.privacy.name, entry.privacy.settings));
    const Model& model = inputs_.model(experiment);
    const Dataset& dataset = inputs_.dataset(experiment);
    const GradientEngine engine(model, pool_);
    // Small batches cost more an example than full micro-batches.
    const auto batch_size = static_cast<std::int64_t>(number(entry.settings, "batch_size").value_or(0));
    std::int64_t count = std::min(engine.micro_batch(), dataset.train.size());
    if (batch_size > 0) count = std::min(count, batch_size);
    const auto [known, fresh] = measured_.emplace(std::tuple(&model, clipped, count), 0.0);
    if (!fresh) return known->second;
    const ExampleReader reader(dataset, model.options());
    const Batch batch = reader.read(dataset.train, torch::arange(count, torch::kInt64));
    const auto source = [&](std::int64_t begin, std::int64_t end) {
      return Batch{batch.inputs.slice(0, begin, end), batch.targets.slice(0, begin, end)};
    };
    Stream stream(
        {.seed = 0, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
    const Params params = model.initial(stream);
    // The first of them pays for memory and code that are used for the first time.
    for (int turn = 0; turn < 3; ++turn) {
      const auto start = Clock::now();
      if (clipped) {
        engine.clipped_gradient_sum(params, 1, count, source);
      } else {
        engine.mean_gradient(params, count, source);
      }
      known->second =
          std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(count);
    }
    return known->second;
  }

  void add_to_sums(std::size_t index, double seconds) {
    const auto& summary = found_[index].summary;
    const auto rounds = static_cast<double>(cells_[index].point->experiment.rounds);
    const double done = summary ? static_cast<double>(summary->rounds_done) / rounds : 0;
    if (found_[index].state == "finished") {
      ++finished_;
    } else {
      seconds_left_ += seconds * (1 - done);
    }
  }

  std::string more() const {
    if (cells_.size() <= kMostLines) return {};
    return fmt::format("... and {}, which take as long as the first of their point and algorithm\n",
                       counted(cells_.size() - kMostLines, "more cell"));
  }

  std::string sums() const {
    return fmt::format("\n{} of {} finished; {}about {} s of work left, {} of data in memory\n", finished_,
                       counted(cells_.size(), "cell"), may_end_early() ? "at most " : "",
                       results::human_seconds(seconds_left_),
                       results::human_bytes(static_cast<double>(inputs_.data_bytes())));
  }

  const std::vector<PlannedCell>& cells_;
  const PluginHost& host_;
  const RunOptions& options_;
  const std::atomic<bool> never_ = false;
  WorkPool pool_;
  SharedInputs inputs_;
  std::set<std::string> taken_;  // what data of the user's own are made of
  std::vector<Found> found_;
  std::map<std::string, std::vector<const results::Summary*>> kin_;
  std::map<std::pair<const GridPoint*, const AlgorithmEntry*>, double> seconds_;  // of the first seed's cell
  std::map<std::tuple<const Model*, bool, std::int64_t>, double> measured_;
  std::size_t finished_ = 0;
  double seconds_left_ = 0;
};

}  // namespace

std::string describe_run(const std::vector<PlannedCell>& cells, const PluginHost& host,
                         const RunOptions& options) {
  use_one_torch_thread();
  check_folders(cells, options.out, /*resume=*/true);
  return DryRun(cells, host, options).text();
}

}  // namespace fedarena
