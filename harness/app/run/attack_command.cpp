#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/pool.hpp"
#include "fedarena/base/print.hpp"
#include "fedarena/base/text.hpp"

#include "harness/app/accounting/checks.hpp"
#include "harness/app/commands.hpp"
#include "harness/app/run/attack_inversion.hpp"
#include "harness/app/run/experiment_options.hpp"
#include "harness/app/stop_on_signal.hpp"
#include "harness/attack/membership.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/runner/finished_run.hpp"
#include "harness/runner/plan/catalog.hpp"
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
  std::string format = "text";
};

std::vector<std::string> score_names() {
  std::vector<std::string> names;
  for (const MembershipScore& score : membership_scores()) names.emplace_back(score.name);
  return names;
}

bool asks_references(const std::vector<std::string>& scores) {
  return std::ranges::any_of(membership_scores(), [&](const MembershipScore& score) {
    return score.least_references > 0 && std::ranges::find(scores, score.name) != scores.end();
  });
}

// Runs, each opened once however many attacks ask it.
class OpenedRuns {
 public:
  explicit OpenedRuns(const Catalog& catalog) : catalog_(catalog) {}

  const FinishedRun& open(const fs::path& path) {
    auto& run = runs_[fs::weakly_canonical(path)];
    if (run == nullptr) run = std::make_unique<const FinishedRun>(path, catalog_, inputs_);
    return *run;
  }

  SharedInputs& inputs() { return inputs_; }

  // The finished runs beside a run that differ from it in the seed alone.
  std::vector<const FinishedRun*> references_of(const FinishedRun& run) {
    const results::Summary& own = run.summary();
    std::vector<const FinishedRun*> references;
    const fs::path beside = fs::absolute(run.path()).lexically_normal().parent_path();
    for (const results::FoundRun& found : results::find_runs(std::vector{beside})) {
      if (!found.summary || found.summary->state != results::kFinished) continue;
      // Before data are loaded for a run of something else.
      if (found.summary->label != own.label || found.summary->dataset != own.dataset ||
          found.summary->seed == own.seed)
        continue;
      const FinishedRun& other = open(found.path);
      if (are_alike(run, other)) references.push_back(&other);
    }
    return references;
  }

 private:
  const Catalog& catalog_;
  SharedInputs inputs_;
  std::map<fs::path, std::unique_ptr<const FinishedRun>> runs_;
};

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
      const bool again = std::ranges::find(attacks.attacks, other.score, &results::MembershipAttack::score) !=
                         attacks.attacks.end();
      if (*known == examples && !again) all.attacks.push_back(other);
    }
  }
  results::write_attacks(directory, all);
}

std::string percent(double share, int digits = 2) { return fmt::format("{:.{}f} %", 100 * share, digits); }

std::string text_of(const fs::path& run, const results::MembershipAttacks& attacks) {
  std::string text = fmt::format("{}: {}, as many non-members ({})", run.string(),
                                 counted(attacks.member_examples.size(), "member"), attacks.non_members);
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

int run_attacks(const AttackArguments& arguments) {
  const std::vector<results::FoundRun> found = results::find_runs(arguments.folders);
  const PluginHost host = load_plugins(arguments.plugin_path);
  const Catalog catalog = make_catalog(host);
  if (found.size() > 1 && !arguments.inversion.picture.empty()) {
    throw Error(
        Complaint{.found = fmt::format("--output names one picture, but there are {} runs", found.size()),
                  .remedy = "Name one run, or leave --output out"});
  }
  OpenedRuns runs(catalog);
  use_one_torch_thread();
  const WorkPool pool(arguments.workers, use_one_torch_thread);
  results::Json json = results::Json::array();
  ProgressLine progress(stderr);
  std::size_t begun = 0;
  const auto attack = [&](const fs::path& path) {
    const auto tell = [&](const std::string& what) {
      progress.draw([&](std::size_t room) {
        return fmt::format("[{}/{}] {}: {}", begun, found.size(), path.string(), what).substr(0, room);
      });
    };
    ++begun;
    tell("the run is opened");
    const FinishedRun& run = runs.open(path);
    std::string text;
    if (!arguments.inversion.method.empty()) {
      InversionAnswer answer = invert_run(run, arguments.inversion, host, runs.inputs(), pool, tell);
      json.push_back(std::move(answer.json));
      text = std::move(answer.text);
    } else {
      const auto references =
          asks_references(arguments.scores) ? runs.references_of(run) : std::vector<const FinishedRun*>();
      const results::MembershipAttacks attacks = attack_membership(run, references,
                                                                   {.pool = pool,
                                                                    .stop = stop_on_signal(),
                                                                    .scores = arguments.scores,
                                                                    .examples = arguments.examples,
                                                                    .tell = tell});
      write(run, attacks);
      json.push_back(json_of(path, attacks));
      text = text_of(path, attacks);
    }
    progress.clear();
    if (arguments.format == "text") print("{}", text);
  };
  for (const results::FoundRun& each : found) {
    try {
      attack(each.path);
    } catch (const Error& error) {
      if (found.size() == 1) throw;
      // One run that cannot be attacked must not hide the others.
      progress.say("not attacked: " + results::one_line(error.what()));
    }
  }
  if (json.empty()) {
    throw Error(Complaint{.found = fmt::format("none of the {} runs could be attacked", found.size()),
                          .remedy = "The lines above say why."});
  }
  if (arguments.format == "json") print("{}\n", results::json_text(json, 1));
  return kSuccess;
}

}  // namespace

void add_attack_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("attack",
                                         "Guess which examples finished runs were trained on, and record how "
                                         "well that goes; or turn what clients "
                                         "sent back into images.");
  const auto arguments = std::make_shared<AttackArguments>();
  command->add_option("DIR", arguments->folders, "folders with run directories of finished runs")->required();
  CLI::Option* score = command
                           ->add_option("--score", arguments->scores,
                                        fmt::format("what the guess rests on: {}; default loss,gradient-norm",
                                                    fmt::join(score_names(), ", ")))
                           ->type_name("A,B,...")
                           ->delimiter(',')
                           ->allow_extra_args(false)
                           ->check(one_of(score_names()));
  CLI::Option* examples =
      command
          ->add_option(
              "--examples", arguments->examples,
              "members to measure at most, and as many non-members; by default half of all that can be")
          ->type_name("N")
          ->check(whole_number(10, 1'000'000'000));
  add_inversion_options(*command, arguments->inversion);
  command->get_option("--invert")->excludes(score)->excludes(examples);
  command
      ->add_option("--workers", arguments->workers,
                   "threads, by default one a core; changes the time, never the result")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  command->add_option("--format", arguments->format, "text (the default), or json with every client")
      ->type_name("NAME")
      ->check(one_of({"text", "json"}));
  add_plugin_path(*command, arguments->plugin_path);
  command->callback([arguments, &action] {
    std::ranges::sort(arguments->scores);
    arguments->scores.erase(std::unique(arguments->scores.begin(), arguments->scores.end()),
                            arguments->scores.end());
    action = [arguments] { return run_attacks(*arguments); };
  });
}

}  // namespace fedarena
