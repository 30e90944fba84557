// What a run says of its data, its partition, its model and its settings, against the experiment file: what
// tables tell rows apart by, and what decides how many examples there are.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "harness/digest/sha256.hpp"
#include "results/audit/compare_accesses.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/expected_inputs.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/run_setup.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kMissing = "missing";

// What an experiment file says, in its order.
class Written {
 public:
  explicit Written(std::string_view toml) : settings_(resolved_settings(toml)) {
    for (const char* section : {"data", "proxy", "partition", "model"})
      sections_.emplace_back(section, settings_of_section(toml, section));
  }

  const ResolvedSettings& settings() const { return settings_; }

  // "mlp (hidden = [200, 200])"
  std::string model() const { return in_words("model", "name", {}); }

  // Feature skew that is off is left out.
  std::string partition() const {
    return in_words("partition", "kind", {{"noise", "0.0"}, {"rotations", "[]"}});
  }

  // "iid(clients=4,train_fraction=1.0,noise=0.0,rotations=[],seed=1)"
  std::string partition_id(std::int64_t seed) const {
    std::string id = settings_.of("partition.kind", kMissing) + "(";
    for (auto [name, text] : lines("partition")) {
      if (name == "kind") continue;
      std::erase(text, ' ');
      id += fmt::format("{}={},", name, text);
    }
    return id + fmt::format("seed={})", seed);
  }

  // What differs from the usual, and what else of the experiment decides who trains on what. Of a setting
  // whose usual value nobody here knows, what is recorded is right.
  std::string dataset(const std::string& recorded) const {
    std::vector<std::string> parts = unusual("data", recorded);
    for (const char* part : {"validation_fraction", "held_out_clients"}) {
      const std::string key = fmt::format("evaluation.{}", part);
      if (settings_.number<double>(key, 0) > 0)
        parts.push_back(fmt::format("{} = {}", part, settings_.of(key)));
    }
    if (const std::string proxy = settings_.of("proxy.name", "none"); proxy != "none")
      parts.push_back("proxy = " + with_settings(proxy, unusual("proxy", recorded)));
    return with_settings(settings_.of("data.name", kMissing), parts);
  }

 private:
  const Lines& lines(std::string_view section) const {
    return find_named(sections_, section, &std::pair<std::string, Lines>::first)->second;
  }

  static std::string with_settings(const std::string& name, const std::vector<std::string>& settings) {
    return settings.empty() ? name : fmt::format("{} ({})", name, fmt::join(settings, ", "));
  }

  // `chooses`: the key of the name. `left_out`: settings that are not said.
  std::string in_words(const std::string& section, const std::string& chooses, const Lines& left_out) const {
    std::vector<std::string> parts;
    for (const auto& line : lines(section)) {
      if (line.first != chooses && !contains(left_out, line))
        parts.push_back(fmt::format("{} = {}", line.first, line.second));
    }
    return with_settings(settings_.of(section + "." + chooses, kMissing), parts);
  }

  std::vector<std::string> unusual(const std::string& section, const std::string& recorded) const {
    const std::string name = settings_.of(section + ".name");
    std::vector<std::string> parts;
    for (const auto& [key, text] : lines(section)) {
      if (key == "name") continue;
      const std::string part = fmt::format("{} = {}", key, text);
      const auto usual =
          section == "proxy" && key == "limit" ? std::optional<std::string>("0") : usual_of_data(name, key);
      if (usual ? text != *usual : recorded.find(part) != std::string::npos) parts.push_back(part);
    }
    return parts;
  }

  ResolvedSettings settings_;
  std::vector<std::pair<std::string, Lines>> sections_;
};

// That the summary leaves out no setting; those that it has are compared one by one elsewhere.
void compare_listed(const Lines& written, std::span<const std::string_view> elsewhere,
                    const std::vector<std::pair<std::string, std::string>>& listed, const std::string& field,
                    Comparison& compare) {
  for (const auto& [name, text] : written) {
    if (contains(elsewhere, name)) continue;
    const bool known = find_named(listed, name, &std::pair<std::string, std::string>::first) != nullptr;
    compare.result(known, fmt::format("{}.{}", field, name), kMissing, text);
  }
}

void compare_lists(std::string_view toml, const Summary& summary, const ResolvedSettings& settings,
                   Comparison& compare) {
  constexpr std::array<std::string_view, 2> kNames = {"name", "label"};
  constexpr std::array<std::string_view, 6> kClaimed = {"policy", "delta",      "budget",
                                                        "orders", "conversion", "assume"};
  compare_listed(settings_of_section(toml, "algorithms"), kNames, summary.algorithm_parameters,
                 "algorithm_parameters", compare);
  std::string section = settings.policy_section();
  section.pop_back();
  compare_listed(settings_of_section(toml, section), kClaimed, summary.policy_settings, "policy_settings",
                 compare);
  if (!summary.privacy) return;
  const auto is_list = [&](const char* name) {
    return settings.of(fmt::format("{}.{}", section, name)).starts_with('[');
  };
  compare.boolean("per_client", summary.privacy->per_client,
                  is_list("noise_multiplier") || is_list("budget"));
}

// Settings that are one of a few words. Those of algorithms are declared by plugins, which nobody asks here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kWords = {
    {{"experiment.device", "auto, cpu, cuda, cuda:N"},
     {"experiment.dtype", "float32, float64"},
     {"evaluation.per_client", "true, false"},
     {"audit.kind", "gradient, mislabelled, client"},
     {"audit.noise", "on, off"},
     {"sampling", "poisson, without-replacement"},
     {"noise_source", "stream, system"},
     {"mechanism", "gaussian, laplace, laplace-relative"},
     {"policy", "none, record, client, local, label"},
     {"orders", "default, opacus"},
     {"conversion", "balle, classic"},
     {"assume", "nothing, poisson"}}};

// A number of a device as the words above have it: "cuda:N" of "cuda:1".
std::string word_of(const std::string& key, const std::string& text) {
  const std::size_t number = text.rfind(':') + 1;
  const bool numbered =
      key == "experiment.device" && number > 0 && parse_number<unsigned>(text.substr(number));
  return numbered ? text.substr(0, number) + "N" : text;
}

// That settings are what the program could have read: those words, and no number below 0, which none may be
// but an algorithm's own.
void compare_domains(const ResolvedSettings& settings, const Comparison& compare) {
  constexpr std::string_view kPolicy = "privacy.";
  Kinds kinds(compare);
  for (const auto& [key, text] : settings.texts) {
    const std::size_t policy = key.find(kPolicy);
    const bool of_algorithm = key.starts_with("algorithms.") && policy == std::string::npos;
    const std::string name = policy == std::string::npos ? key : key.substr(policy + kPolicy.size());
    const auto* words = find_named(kWords, name, &std::pair<std::string_view, std::string_view>::first);
    if (words != nullptr) {
      const bool known = fmt::format(", {},", words->second).find(fmt::format(" {},", word_of(key, text))) !=
                         std::string::npos;
      kinds.result(known, key, "", text, "one of " + std::string(words->second));
    }
    const std::optional<double> number = parse_number<double>(text);
    if (number && !of_algorithm && !settings.quoted.contains(key))
      kinds.result(*number >= 0, key, "", text, "a number from 0");
  }
  kinds.conclude();
}

// Whether a partition leaves no example out, before shares are cut.
bool deals_all(const ResolvedSettings& settings) {
  constexpr std::array<std::string_view, 8> kDealAll = {"iid",
                                                        "quantity",
                                                        "shards",
                                                        "shared-classes",
                                                        "dirichlet",
                                                        "dirichlet-niid-bench",
                                                        "dirichlet-flower",
                                                        "dirichlet-pfllib"};
  const std::string kind = settings.of("partition.kind");
  const bool all_classes = kind == "classes" && settings.of("partition.class_order") == "[]" &&
                           settings.of("partition.equal_sizes") == "false";
  return all_classes || contains(kDealAll, kind);
}

// How many examples clients have: "iid" cuts equal shares, of which each client then keeps its part.
void compare_equal_shares(const std::vector<std::int64_t>& sizes, std::int64_t examples, double kept,
                          const Comparison& compare) {
  Kinds kinds(compare);
  const auto clients = std::ssize(sizes);
  for (std::int64_t client = 0; client < clients; ++client) {
    std::int64_t due = (client + 1) * examples / clients - client * examples / clients;
    if (kept < 1) due = std::max<std::int64_t>(1, std::llround(kept * static_cast<double>(due)));
    const std::int64_t size = sizes[static_cast<std::size_t>(client)];
    kinds.result(size == due, "size", client_text(client), std::to_string(size), std::to_string(due));
  }
  kinds.conclude();
}

// The same of any other partition, all clients together: parts are rounded, and nobody is left without.
void compare_total(const std::vector<std::int64_t>& sizes, std::int64_t examples, double kept, bool of_all,
                   Comparison& compare) {
  double total = 0;  // of which an edited file may hold any
  for (const std::int64_t size : sizes) total += static_cast<double>(size);
  const double whole = kept * static_cast<double>(examples);
  const double slack = kept < 1 ? static_cast<double>(sizes.size()) : 0;
  const double most = std::floor(std::min(whole + slack, static_cast<double>(examples)));
  const double least = of_all ? std::ceil(whole - slack) : 0;
  const bool fits = least <= total && total <= most;
  compare.result(fits, "examples of all clients", fmt::format("{:.0f}", total),
                 least == most ? fmt::format("{:.0f}", most)
                               : fmt::format("from {:.0f} to {:.0f}", std::max(least, 0.0), most));
}

// Of the card, or the ledger of a run without one.
void compare_sizes(const std::vector<std::int64_t>& sizes, const ResolvedSettings& settings,
                   Comparison& compare) {
  constexpr std::ptrdiff_t kMostClients = 1'000'000;
  const std::optional<std::int64_t> examples = expected_examples(settings);
  if (!examples) return;
  const double kept = std::clamp(settings.number<double>("partition.train_fraction", 1), 0.0, 1.0);
  if (settings.of("partition.kind") == "iid" && std::ssize(sizes) <= kMostClients)
    return compare_equal_shares(sizes, *examples, kept, compare);
  compare_total(sizes, *examples, kept, deals_all(settings), compare);
}

// Of a list in brackets.
std::vector<std::int64_t> numbers_in(std::string_view list) {
  std::vector<std::int64_t> numbers;
  if (list.size() < 2) return numbers;
  for (const std::string_view part : split_at_commas(list.substr(1, list.size() - 2))) {
    if (const auto number = parse_number<std::int64_t>(part)) numbers.push_back(*number);
  }
  return numbers;
}

// What clients see of their inputs: the last one the most noise, and turned by the list in turn.
void compare_features(const RecordedPartition& card, const ResolvedSettings& settings,
                      const Comparison& compare) {
  const auto noise = settings.number<double>("partition.noise", 0);
  const std::vector<std::int64_t> degrees = numbers_in(settings.of("partition.rotations"));
  const bool any = noise > 0 || std::ranges::any_of(degrees, [](std::int64_t turned) { return turned != 0; });
  Kinds kinds(compare);
  kinds.result(card.noise.empty() != any, "noise", "", card.noise.empty() ? "empty" : "some",
               any ? "some" : "empty");
  for (std::size_t client = 0; any && client < card.noise.size(); ++client) {
    const double due =
        noise > 0 ? noise * static_cast<double>(client) / static_cast<double>(card.noise.size() - 1) : 0;
    const std::int64_t turned = degrees.empty() ? 0 : degrees[client % degrees.size()];
    const std::string whose = client_text(static_cast<std::int64_t>(client));
    kinds.result(card.noise[client] == due, "noise", whose, exact_number(card.noise[client]),
                 exact_number(due));
    kinds.result(card.rotations[client] == turned, "rotations", whose, std::to_string(card.rotations[client]),
                 std::to_string(turned));
  }
  kinds.conclude();
}

void compare_card(const RecordedPartition& card, const ResolvedSettings& settings, Comparison& compare) {
  compare.text("kind", card.kind, settings.of("partition.kind", kMissing));
  compare_features(card, settings, compare);
  compare_sizes(card.sizes, settings, compare);
  const std::optional<std::int64_t> classes = expected_classes(settings);
  if (!classes || card.class_counts.empty()) return;  // a card may keep them to itself
  compare.integer("classes", std::ssize(card.class_counts.front()), *classes);
}

// Which of the rules that look at validation examples ends the run, and after which round.
class ExpectedStop {
 public:
  explicit ExpectedStop(const ResolvedSettings& settings)
      : target_(settings.number<double>("stopping.target_accuracy", 0)),
        patience_(settings.number<std::int64_t>("stopping.patience", 0)),
        improvement_(settings.number<double>("stopping.improvement", 0)) {}

  void see(const RoundRecord& round) {
    const std::optional<ValidationScore> score = validation_score(round);
    if (!score || !rule_.empty()) return;
    if (improves(*score)) {
      best_ = score;
      best_round_ = round.round;
    }
    if (target_ > 0 && round.validation_accuracy && *round.validation_accuracy >= target_) {
      rule_ = kStoppedByTarget;
    } else if (patience_ > 0 && round.round - best_round_ >= patience_) {
      rule_ = kStoppedByPatience;
    }
    if (!rule_.empty()) round_ = round.round;
  }

  /// Empty while none does.
  std::string rule() const { return std::string(rule_); }
  std::int64_t round() const { return round_; }

 private:
  bool improves(const ValidationScore& score) const {
    if (!best_ || best_->diverged || score.diverged) return !best_ || score.better_than(*best_);
    if (score.criterion == kByValidationAccuracy) return score.value > best_->value + improvement_;
    return score.value < best_->value * (1 - improvement_);
  }

  double target_;
  std::int64_t patience_;
  double improvement_;
  std::optional<ValidationScore> best_;
  std::int64_t best_round_ = 0, round_ = 0;
  std::string_view rule_;
};

// The end of a finished run: by a rule, before the last planned round. Rules look at rounds that are
// evaluated in any case, not because they turned out to be the last.
void compare_end(const Summary& summary, std::span<const RoundRecord> rounds,
                 const ResolvedSettings& settings, Comparison& compare) {
  const auto every = std::max<std::int64_t>(settings.number<std::int64_t>("evaluation.every", 1), 1);
  ExpectedStop stop(settings);
  for (const RoundRecord& round : rounds) {
    if (round.round % every == 0) stop.see(round);
  }
  compare.text("stopped_by", summary.stopped, stop.round() < summary.rounds ? stop.rule() : "");
  if (stop.round() > 0) compare.integer("rounds_done", summary.rounds_done, stop.round());
}

// How many classes there are; none where nobody here knows.
std::optional<std::int64_t> classes_of(const std::optional<RecordedPartition>& card,
                                       const ResolvedSettings& settings) {
  if (card && !card->class_counts.empty()) return std::ssize(card->class_counts.front());
  return expected_classes(settings);
}

// Whether rounds tell an accuracy of each class where they tell one of all, which is among these: a mean.
void compare_classes(std::span<const RoundRecord> rounds, std::optional<std::int64_t> classes,
                     const Comparison& compare) {
  constexpr double kRounding = 1e-9;
  const bool any =
      std::ranges::any_of(rounds, [](const RoundRecord& round) { return round.classes.has_value(); });
  Kinds kinds(compare);
  for (const RoundRecord& round : rounds) {
    const std::string whose = fmt::format(" of round {}", round.round);
    const bool due = any && round.test_accuracy.has_value();
    kinds.result(round.classes.has_value() == due, "class_accuracy", whose,
                 round.classes ? "a list" : "absent", due ? "a list" : "absent");
    if (!round.classes || !due) continue;
    const std::vector<std::optional<double>>& accuracies = round.classes->accuracy;
    if (!classes) classes = std::ssize(accuracies);  // all rounds alike
    kinds.result(std::ssize(accuracies) == *classes, "class_accuracy", whose,
                 counted(accuracies.size(), "class", "classes"), std::to_string(*classes));
    double least = 1, most = 0;
    for (const std::optional<double>& accuracy : accuracies) {
      least = std::min(least, accuracy.value_or(1));
      most = std::max(most, accuracy.value_or(0));
    }
    kinds.result(
        least - kRounding <= *round.test_accuracy && *round.test_accuracy <= most + kRounding,
        "test_accuracy", whose, exact_number(*round.test_accuracy),
        fmt::format("from {} to {}, as that of the classes", exact_number(least), exact_number(most)));
  }
  kinds.conclude();
}

// Whether rounds that were evaluated tell of validation and of clients what the experiment asks for.
void compare_tests(std::span<const RoundRecord> rounds, const ResolvedSettings& settings,
                   Comparison& compare) {
  const auto is_part = [&](const char* key) { return settings.number<double>(key, 0) > 0; };
  const bool validates = is_part("evaluation.validation_fraction") || is_part("evaluation.held_out_clients");
  const bool per_client = settings.of("evaluation.per_client") == "true";
  const auto text = [](bool there) { return there ? "numbers" : "none"; };
  for (const RoundRecord& round : rounds) {
    if (!round.test_loss) continue;
    const bool validated = round.validation_loss.has_value();
    const bool tested = round.per_client || round.client_errors;
    compare.result(validated == validates, fmt::format("round {} validation_loss", round.round),
                   text(validated), text(validates));
    compare.result(tested == per_client, fmt::format("round {} clients_tested", round.round), text(tested),
                   text(per_client));
  }
}

// The device as it is recorded: a GPU always with its number. What the file leaves open, the machine chose.
std::string expected_device(const std::string& setting, const std::string& recorded) {
  constexpr const char* kFirstGpu = "cuda:0";
  if (setting == "auto") return recorded == kFirstGpu ? kFirstGpu : "cpu";
  return setting == "cuda" ? kFirstGpu : setting;
}

// Where the run was at home: its device, and counts and digests that some machine could have had.
void compare_environment(const Json& environment, const Summary& summary, const ResolvedSettings& settings,
                         Comparison compare) {
  if (settings.has("experiment.device")) {
    const std::string recorded = unquoted(json_text(environment.value("device", Json(kMissing)), -1));
    compare.text("device", recorded, expected_device(settings.of("experiment.device"), recorded));
  }
  for (const char* count : {"cores", "workers", "sdk_abi"}) {
    const Json number = environment.value(count, Json(1));
    compare.result(number.is_number_integer() && number >= 1, count, json_text(number, -1),
                   "a number from 1");
  }
  for (const Json& digest : {environment.value("program_sha256", Json()),
                             plugin_of(environment, summary.algorithm).value("sha256", Json())}) {
    if (!digest.is_null())
      compare.result(digest.is_string() && is_sha256(digest.get<std::string>()), "sha256",
                     json_text(digest, -1), "64 hexadecimal digits");
  }
}

}  // namespace

void verify_settings(const RunDirectory& run, const Summary& summary, std::span<const RoundRecord> rounds,
                     Verification& verification) {
  const std::string toml = run.read_file(kExperimentFile);
  const Written written(toml);
  const ResolvedSettings& settings = written.settings();
  Comparison compare(verification, run.path() / kSummaryFile);
  compare.text("dataset", summary.dataset, written.dataset(summary.dataset));
  compare.text("partition", summary.partition, written.partition());
  if (!summary.partition_id.empty())
    compare.text("partition_id", summary.partition_id, written.partition_id(summary.seed));
  compare.text("model", summary.model, written.model());
  compare_lists(toml, summary, settings, compare);
  compare_domains(settings, Comparison(verification, run.path() / kExperimentFile));
  if (summary.state == kFinished) compare_end(summary, rounds, settings, compare);
  Comparison compare_rounds(verification, run.path() / kRoundsFile);
  compare_tests(rounds, settings, compare_rounds);
  const std::optional<RecordedPartition> card = read_partition(run);
  compare_classes(rounds, classes_of(card, settings), compare_rounds);
  if (card) {
    Comparison compare_partition(verification, run.path() / kPartitionFile);
    compare_card(*card, settings, compare_partition);
  } else if (run.has(kLedgerFile)) {
    std::vector<std::int64_t> sizes;
    const Ledger ledger = read_ledger(run.path());
    for (const auto& [client, record] : ledger.clients()) sizes.push_back(record.examples);
    Comparison compare_ledger(verification, run.path() / kLedgerFile);
    compare_sizes(sizes, settings, compare_ledger);
  }
  if (run.has(kEnvironmentFile))
    compare_environment(read_environment(run.path()), summary, settings,
                        Comparison(verification, run.path() / kEnvironmentFile));
}

}  // namespace fedarena::results
