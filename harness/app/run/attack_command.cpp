#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/pool.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/options.hpp"
#include "harness/app/run/attack_inversion.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/app/stop_on_signal.hpp"
#include "harness/attack/membership.hpp"
#include "harness/attack/opened_runs.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/finished_run.hpp"
#include "harness/runner/progress/progress_line.hpp"
#include "results/record/attack_file.hpp"
#include "results/record/find_runs.hpp"
#include "results/record/json_fields.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct AttackArguments {
  std::vector<fs::path> folders, plugin_path;
  std::vector<std::string> scores = {"loss", "gradient-norm"};
  std::int64_t examples = 0;
  InversionArguments inversion;
  int workers = WorkPool::available_cores();
  std::string device;
  std::string format = "text";
};

std::vector<std::string> score_names() { return {membership_scores().begin(), membership_scores().end()}; }

bool asks_references(const std::vector<std::string>& scores) {
  return std::ranges::any_of(scores, [](const auto& score) { return results::least_references(score) > 0; });
}

// Those in the file stay where they are about the same examples.
void write(const FinishedRun& run, const results::MembershipAttacks& attacks) {
  const auto directory = results::RunDirectory::open(run.path());
  results::MembershipAttacks all = attacks;
  std::optional<results::MembershipAttacks> known;
  try {
    known = results::read_attacks(run.path());
  } catch (const Error&) {
    // A damaged one, or that of another run, is replaced.
  }
  if (known) {
    const std::vector<results::MembershipAttack> others = std::exchange(known->attacks, {});
    results::MembershipAttacks examples = attacks;
    examples.attacks.clear();
    for (const results::MembershipAttack& other : others) {
      const bool again =
          find_named(attacks.attacks, other.score, &results::MembershipAttack::score) != nullptr;
      if (*known == examples && !again) all.attacks.push_back(other);
    }
  }
  results::write_attacks(directory, all);
}

std::string percent(double share, int digits = 2) { return fmt::format("{:.{}f} %", 100 * share, digits); }

std::string text_of(const fs::path& run, const results::MembershipAttacks& attacks) {
  std::string text = fmt::format("{}: {}", run.string(), results::attacked_text(attacks));
  if (attacks.member_accuracy) {
    text += fmt::format("; accuracy {} on members, {} on non-members", percent(*attacks.member_accuracy),
                        percent(*attacks.non_member_accuracy));
  }
  std::vector<std::vector<std::string>> lines = {{"score", "AUC", "95 % interval", "TPR at 1 % FPR",
                                                  "TPR at 0.1 % FPR", "advantage",
                                                  "largest AUC of a client"}};
  for (const results::MembershipAttack& attack : attacks.attacks) {
    const results::Separation& found = attack.separation;
    const auto worst = std::ranges::max_element(attack.clients, {}, &results::ClientSeparation::auc);
    lines.push_back(
        {attack.score, fmt::format("{:.4f}", found.auc),
         fmt::format("{:.4f} to {:.4f}", found.auc_interval.low, found.auc_interval.high),
         percent(found.tpr_at_1_percent), percent(found.tpr_at_01_percent), percent(found.advantage),
         worst == attack.clients.end() ? "" : fmt::format("{:.4f} (client {})", worst->auc, worst->client)});
  }
  return text + "\n" + results::aligned_lines(lines, {false, true, true, true, true, true, true});
}

results::Json json_of(const fs::path& run, const results::MembershipAttacks& attacks) {
  results::Json json = {{"run", run.string()},
                        {"members", attacks.member_examples.size()},
                        {"non_members_are", attacks.non_members},
                        {"member_accuracy", results::json_number(attacks.member_accuracy)},
                        {"non_member_accuracy", results::json_number(attacks.non_member_accuracy)},
                        {"attacks", results::Json::array()}};
  for (const results::MembershipAttack& attack : attacks.attacks)
    json["attacks"].push_back(results::measures_json(attack));
  return json;
}

// Attacks one run after the other on each worker, all on one pool.
class AttackedRuns {
 public:
  AttackedRuns(const AttackArguments& arguments, const std::vector<results::FoundRun>& found,
               const LoadedPlugins& plugins, const std::atomic<bool>& stop)
      : arguments_(arguments),
        found_(found),
        host_(plugins.host),
        stop_(stop),
        runs_(plugins.catalog, found, arguments.device),
        pool_(arguments.workers, use_one_torch_thread),
        answers_(stderr, names_of(found, [](const results::FoundRun& run) { return run.path.string(); })) {}

  // Says what came of each run, in their order. Throws Interrupted once it is to stop.
  void attack_all() {
    try {
      // Whoever is free takes the next run. A worker that waits for a loop within its run takes no other one
      // meanwhile, so no more runs are in memory than there are workers.
      pool_.for_each(found_.size(), [this](std::size_t /*which*/) { attack(next_.fetch_add(1)); });
    } catch (...) {
      answers_.give_rest();
      throw;
    }
  }

  // Names what should have been a reference and cannot be.
  void say_left_out() const {
    for (const auto& [run, why] : runs_.left_out())
      print(stderr, "not asked as a reference: {}\n", results::one_line(why));
  }

  // Of those that could be attacked.
  const results::Json& json() const { return json_; }

 private:
  void attack(std::size_t which) {
    if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
    RunAnswers::Answer say;
    try {
      say = [this, answer = answer_of(which)] {
        json_.push_back(answer.json);
        if (arguments_.format == "text") print("{}", answer.text);
      };
    } catch (const Error& error) {
      if (found_.size() == 1) throw;
      // One run that cannot be attacked must not hide the others.
      say = [line = results::in_one_line(error, found_[which].path.string())] {
        print(stderr, "not attacked: {}\n", line);
      };
    }
    answers_.give(which, std::move(say));
  }

  AttackAnswer answer_of(std::size_t which) {
    const auto tell = [this, which](const std::string& what) { answers_.tell(which, what); };
    tell("the run is opened");
    const OpenedRun run = runs_.open(found_[which].path);
    if (!arguments_.inversion.method.empty()) {
      return invert_run(*run, arguments_.inversion,
                        {.resources = {host_, runs_.inputs(), pool_, stop_}, .tell = tell});
    }
    std::vector<OpenedRun> opened;
    if (asks_references(arguments_.scores)) opened = runs_.references_of(*run, stop_);
    std::vector<const FinishedRun*> references;
    for (const OpenedRun& reference : opened) references.push_back(reference.get());
    const results::MembershipAttacks attacks = attack_membership(*run, references,
                                                                 {.pool = pool_,
                                                                  .stop = stop_,
                                                                  .scores = arguments_.scores,
                                                                  .examples = arguments_.examples,
                                                                  .tell = tell});
    write(*run, attacks);
    return {.text = text_of(run->path(), attacks), .json = json_of(run->path(), attacks)};
  }

  const AttackArguments& arguments_;
  const std::vector<results::FoundRun>& found_;
  const PluginHost& host_;
  const std::atomic<bool>& stop_;
  OpenedRuns runs_;
  WorkPool pool_;
  RunAnswers answers_;
  std::atomic<std::size_t> next_ = 0;
  results::Json json_ = results::Json::array();  // changed by answers alone, which come one by one
};

int run_attacks(const AttackArguments& given) {
  AttackArguments arguments = given;
  std::ranges::sort(arguments.scores);
  arguments.scores.erase(std::unique(arguments.scores.begin(), arguments.scores.end()),
                         arguments.scores.end());
  const std::atomic<bool>& stop = stop_on_signal();
  const std::vector<results::FoundRun> found = results::find_runs(arguments.folders);
  const LoadedPlugins plugins = load_plugins(arguments.plugin_path);
  if (!arguments.inversion.method.empty()) check_pictures(found, arguments.inversion);
  use_one_torch_thread();
  AttackedRuns runs(arguments, found, plugins, stop);
  try {
    runs.attack_all();
  } catch (const Interrupted&) {
    const std::size_t attacked = runs.json().size();
    if (attacked == 0)
      print(stderr, "Stopped; nothing was written.\n");
    else
      print(stderr, "Stopped after {} of {} runs; nothing was written for the others.\n", attacked,
            found.size());
    return kInterrupted;
  } catch (const Error&) {
    runs.say_left_out();
    throw;
  }
  runs.say_left_out();
  if (runs.json().empty()) {
    throw Error(Complaint{.found = fmt::format("none of the {} runs could be attacked", found.size()),
                          .remedy = "The lines above say why."});
  }
  if (arguments.format == "json") print("{}\n", results::json_text(runs.json(), 1));
  return kSuccess;
}

}  // namespace

void add_attack_command(CLI::App& app, Action& action) {
  const auto [command, arguments] = add_command(
      app, action, run_attacks, "attack",
      "Guess which examples finished runs were trained on, and record how well that goes; or turn "
      "what clients sent back into images.");
  command.add_option("DIR", arguments.folders, "folders with run directories of finished runs")->required();
  CLI::Option* score = add_names(command, "--score", arguments.scores,
                                 fmt::format("what the guess rests on: {}; default loss,gradient-norm",
                                             fmt::join(score_names(), ", ")))
                           ->type_name("A,B,...")
                           ->check(one_of(score_names()));
  CLI::Option* examples =
      add_count(command, "--examples", arguments.examples, 10, 1'000'000'000,
                "members to measure at most, and as many non-members; by default half of all that can be");
  add_inversion_options(command, arguments.inversion);
  command.get_option("--invert")->excludes(score)->excludes(examples);
  add_workers(command, arguments.workers);
  add_device(command, arguments.device);
  add_format(command, arguments.format, "text (the default), or json with every client");
  add_plugin_path(command, arguments.plugin_path);
}

}  // namespace fedarena
