#include "results/audit/verify.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/schema.hpp"
#include "fedarena/base/text.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"
#include "results/text/natural_order.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

// Of cohorts that are secret, 0, or what each member of each of them had.
double per_client_round(std::int64_t bytes, std::span<const RoundRecord> rounds,
                        std::int64_t RoundRecord::*of_round, bool secret, double recorded) {
  std::int64_t client_rounds = 0;
  std::set<double> sizes;
  for (const RoundRecord& round : rounds) {
    client_rounds += round.clients;
    if (round.clients > 0)
      sizes.insert(static_cast<double>(round.*of_round) / static_cast<double>(round.clients));
  }
  if (client_rounds == 0) return secret ? recorded : 0;  // as declared
  if (secret && (recorded == 0 || sizes.size() > 1)) return 0;
  return static_cast<double>(bytes) / static_cast<double>(client_rounds);
}

// The summary of a finished run with what its rounds add up to.
Summary with_totals(Summary summary, std::span<const RoundRecord> rounds) {
  summary.uplink_bytes = summary.downlink_bytes = summary.examples = 0;
  summary.seconds = 0;
  for (const RoundRecord& round : rounds) {
    summary.uplink_bytes += round.uplink_bytes;
    summary.downlink_bytes += round.downlink_bytes;
    summary.examples += round.examples;
    summary.seconds += round.train_seconds + round.evaluation_seconds;
  }
  const bool secret = is_secret(DrawnSizes::kCohorts, summary.privacy);
  summary.uplink_bytes_per_client_round =
      per_client_round(summary.uplink_bytes, rounds, &RoundRecord::uplink_bytes, secret,
                       summary.uplink_bytes_per_client_round);
  summary.downlink_bytes_per_client_round =
      per_client_round(summary.downlink_bytes, rounds, &RoundRecord::downlink_bytes, secret,
                       summary.downlink_bytes_per_client_round);
  summary.final_test_loss = rounds.empty() ? std::nullopt : rounds.back().test_loss;
  summary.final_test_accuracy = rounds.empty() ? std::nullopt : rounds.back().test_accuracy;
  summary.cost = total_cost(rounds);
  return summary;
}

// Accuracy without loss, losses below 0, evaluations at rounds that were not planned, and cohorts larger than
// the federation. An unfinished run may have evaluated the last round on disk because it was about to end.
void verify_rounds(const AuditedRun& run, Comparison compare) {
  const Summary& summary = run.summary;
  const auto every = std::max<std::int64_t>(run.settings.number<std::int64_t>("evaluation.every", 1), 1);
  for (const RoundRecord& round : run.rounds()) {
    const std::string field = fmt::format("round {}", round.round);
    const bool last = run.finished() && round.round == summary.rounds_done;
    const bool due = round.round % every == 0 || round.round == summary.rounds || last;
    const bool may_be_last = !run.finished() && round.round == std::ssize(run.recorded);
    compare.result(round.test_loss.has_value() == due || (may_be_last && round.test_loss),
                   field + " test_loss", round.test_loss ? "a number" : "null", due ? "a number" : "null");
    compare.result(!round.test_accuracy || round.test_loss, field + " test_accuracy", "a number", "null");
    for (const auto& [name, loss] :
         {std::pair("test_loss", round.test_loss), {"validation_loss", round.validation_loss}})
      compare.result(!loss || !(*loss < 0), fmt::format("{} {}", field, name), loss.value_or(0),
                     "at least 0");
    compare.result(round.clients <= summary.clients, field + " clients", round.clients,
                   fmt::format("at most {}", summary.clients));
  }
}

class Settings {
 public:
  Settings(const ResolvedSettings& settings, Comparison compare)
      : settings_(settings), compare_(std::move(compare)) {}

  std::string of(const std::string& key) const { return settings_.of(key, kMissing); }
  std::string policy_section() const { return settings_.policy_section(); }
  void text(const std::string& key, const std::string& expected) { compare_.text(key, of(key), expected); }
  void number(const std::string& key, double expected) {
    const std::string text = of(key);
    compare_.result(parse_number<double>(text) == expected, key, text, expected);
  }
  // What a sweep gives.
  void swept(const Sweep& sweep, const std::string& label) {
    for (const auto& setting : sweep) {
      const std::string& path = setting.first;
      if (path == "privacy.noise_for_epsilon") continue;  // the noise that it led to is written
      if (path.starts_with("audit.") && of("audit.kind") == kMissing) continue;  // without canaries
      // Where one value of the sweep is a table of settings that are shared, an algorithm heeds one at least.
      const std::string key = key_of_swept(path, label);
      const auto is_heeded = [&](const auto& other) {
        return section_of(other.first) == section_of(path) &&
               same(key_of_swept(other.first, label), other.second);
      };
      const bool is_certain = !is_shared(path) || key == path || std::ranges::none_of(sweep, is_heeded);
      if (is_certain || is_heeded(setting)) value(key, setting.second);
    }
  }
  // What tuning chose, which stands at the algorithm.
  void chosen(const std::string& path, const std::string& label, const std::string& expected) {
    value(is_shared(path) ? "algorithms." + parameter_of(path) : own_key(path, label), expected);
  }

 private:
  static std::string section_of(const std::string& path) { return path.substr(0, path.find('.') + 1); }
  static bool is_shared(const std::string& path) {
    return path.starts_with(kTrainingPaths) || path.starts_with("privacy.");
  }
  // Shared settings went into those of the algorithm. The policy for all stands there as well, or as "none"
  // where the algorithms of the point have their own.
  std::string key_of_swept(const std::string& path, const std::string& label) const {
    if (!is_shared(path) || (settings_.has(path) && of("privacy.policy") != "none"))
      return own_key(path, label);
    const std::string name = path.substr(section_of(path).size());
    return (path.starts_with("privacy.") ? policy_section() : "algorithms.") + name;
  }
  // A list may be of numbers that are written in two ways: "[1, 2]", "[1.0, 2.0]".
  bool same(const std::string& key, const std::string& expected) const {
    const std::string recorded = of(key);
    return std::ranges::equal(split_at_commas(recorded), split_at_commas(expected),
                              [](std::string_view left, std::string_view right) {
                                const auto number = parse_number<double>(without_brackets(left));
                                return number ? number == parse_number<double>(without_brackets(right))
                                              : left == right;
                              });
  }
  static std::string_view without_brackets(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" ["), text.size()));
    return text.substr(0, text.find_last_not_of(']') + 1);
  }
  // Where the settings of one algorithm stand in the experiment of one run.
  static std::string own_key(const std::string& path, const std::string& label) {
    for (const std::string& own :
         {fmt::format("algorithms.{}.", label), fmt::format("algorithms.\"{}\".", label)}) {
      if (path.starts_with(own)) return "algorithms." + path.substr(own.size());
    }
    return path;
  }
  void value(const std::string& key, const std::string& expected) {
    const std::optional<double> value = parse_number<double>(expected);
    if (value) return number(key, *value);
    if (same(key, expected)) return text(key, of(key));
    text(key, expected);
  }

  const ResolvedSettings& settings_;
  Comparison compare_;
};

// The summary says which experiment it belongs to.
void verify_experiment(const AuditedRun& run, Comparison compare) {
  const Summary& summary = run.summary;
  Settings experiment(run.settings, std::move(compare));
  experiment.text("experiment.name", summary.experiment);
  experiment.text("experiment.seeds", fmt::format("[{}]", summary.seed));
  experiment.number("experiment.rounds", static_cast<double>(summary.rounds));
  experiment.text("algorithms.name", summary.algorithm);
  experiment.text("algorithms.label", summary.label);
  for (const auto& [name, value] : summary.algorithm_parameters) {
    experiment.text("algorithms." + name, unquoted(value));
  }
  experiment.swept(summary.sweep, summary.label);
  if (summary.tuning) {
    for (const auto& [path, value] : summary.tuning->chosen) experiment.chosen(path, summary.label, value);
  }
  const std::string section = experiment.policy_section();
  experiment.text(section + "policy", summary.policy);
  if (!summary.privacy) return;
  for (const auto& [name, value] : summary.policy_settings) experiment.text(section + name, unquoted(value));
  const AccountSettings& settings = summary.privacy->settings;
  experiment.number(section + "delta", settings.delta);
  experiment.text(section + "orders", settings.orders);
  experiment.text(section + "conversion", settings.conversion);
  experiment.text(section + "assume", settings.assume);
  const PerClient& budget = summary.privacy->budget;
  if (budget.is_list()) {
    experiment.text(section + "budget", to_text(Value(budget)));
  } else {
    experiment.number(section + "budget", budget.number());
  }
}

std::string digest_in(const Seal& seal, const std::string& file) {
  const auto found = seal.find(file);
  return found == seal.end() ? "missing" : found->second;
}

}  // namespace

Verification verify_run(const AuditedRun& run) {
  const Summary& summary = run.summary;
  const auto recorded = std::ssize(run.recorded);
  Verification verification;
  Comparison compare(verification, run.file(kSummaryFile));
  if (summary.state == kRunning) {
    verification.notes.push_back(
        fmt::format("is running, or crashed; only the {} of its last checkpoint {} checked",
                    counted(summary.rounds_done, "round"), summary.rounds_done == 1 ? "is" : "are"));
    compare.result(recorded >= summary.rounds_done, "rounds_done", summary.rounds_done,
                   fmt::format("at most {}", recorded));
  } else {
    compare.same("rounds_done", summary.rounds_done, recorded);
  }
  if (run.finished()) compare.fields(to_json(summary), to_json(with_totals(summary, run.rounds())), true);
  verify_clients(run, verification);
  verify_partition(run, verification);
  verify_settings(run, verification);
  verify_domains(run, verification);
  verify_tests(run, verification);
  verify_attacks(run, verification);
  verify_experiment(run, Comparison(verification, run.file(kExperimentFile)));
  verify_rounds(run, Comparison(verification, run.file(kRoundsFile)));
  verify_choices(run, verification);
  verify_privacy(run, verification);
  verify_audit(run, verification);
  return verification;
}

std::string describe(const Difference& difference) {
  return fmt::format("{}: {} is {}; recomputed: {}", difference.file.string(), difference.field,
                     difference.recorded, difference.recomputed);
}

Verification verify_seal(const FoundRun& run) {
  Verification verification;
  std::error_code ignored;
  const bool sealed = fs::is_regular_file(run.path / kSealFile, ignored);
  bool finished = run.summary ? run.summary->state == kFinished : sealed;
  // One that was at work when it was found may have ended since.
  if (!finished && sealed) finished = RunDirectory::open(run.path).summary().state == kFinished;
  Comparison compare_seal(verification, run.path / kSealFile);
  if (!finished) {
    if (!sealed) return verification;
    const bool killed = run.summary->state == kRunning &&
                        sealed_at_its_end(run.path, read_seal(run.path), current_seal(run.path));
    compare_seal.result(killed, "the state that it seals", kFinished, run.summary->state);
    if (killed) verification.notes.emplace_back("was killed at its very end; --resume finishes it");
    return verification;
  }
  const Seal now = current_seal(run.path);
  compare_seal.result(sealed, "the seal of a finished run", "missing", counted(now.size(), "file"));
  if (!sealed) return verification;
  const Seal recorded = read_seal(run.path);
  std::set<std::string> files;
  for (const Seal* seal : {&recorded, &now}) {
    for (const auto& [file, digest] : *seal) files.insert(file);
  }
  for (const std::string& file : files) {
    Comparison compare(verification, run.path / file);
    compare.result(digest_in(recorded, file) == digest_in(now, file), fmt::format("SHA-256 in {}", kSealFile),
                   digest_in(recorded, file), digest_in(now, file));
  }
  return verification;
}

AuditedRun::AuditedRun(const std::filesystem::path& path)
    : directory(RunDirectory::open(path)),
      summary(directory.summary()),
      recorded(directory.rounds()),
      experiment(directory.read_file(kExperimentFile)),
      settings(resolved_settings(experiment)),
      expected(experiment, file(kExperimentFile).string()),
      card(read_partition(directory)) {
  if (finished() || directory.has(kLedgerFile)) ledger = read_ledger(path);
}

std::span<const RoundRecord> AuditedRun::rounds() const {
  const std::span<const RoundRecord> all = recorded;
  if (summary.state != kRunning) return all;
  return all.first(std::min(all.size(), static_cast<std::size_t>(summary.rounds_done)));
}

}  // namespace fedarena::results
