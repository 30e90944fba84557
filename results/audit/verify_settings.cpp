// What a summary says of data, partition, model and settings, against the experiment file: what tables tell
// rows apart by; and whether the file and the environment are what the program could have read and met with.
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "harness/digest/sha256.hpp"
#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/expected_inputs.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

// What an experiment file says, in its order.
class Written {
 public:
  Written(std::string_view toml, const ResolvedSettings& settings) : settings_(settings) {
    for (const char* section : {"data", "proxy", "partition", "model"})
      sections_.emplace_back(section, settings_of_section(toml, section));
  }

  // "mlp (hidden = [200, 200])"
  std::string model() const { return in_words("model", "name", {}); }

  std::string partition() const { return in_words("partition", "kind", partition_off()); }

  // "iid(clients=4,seed=1)"
  std::string partition_id(std::int64_t seed) const {
    std::string id = settings_.of("partition.kind", kMissing) + "(";
    for (auto [name, text] : lines("partition")) {
      if (name == "kind" || contains(partition_off(), std::pair(name, text))) continue;
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
  // What is off is left out, and "clients = 0", which is as many as there are.
  static Lines partition_off() {
    return {{"clients", "0"},    {"train_fraction", "1.0"}, {"noise", "0.0"},
            {"rotations", "[]"}, {"class_order", "[]"},     {"equal_sizes", "false"}};
  }

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
        parts.push_back(fmt::format("{} = {}", line.first, value_in_words(line.second)));
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

  const ResolvedSettings& settings_;
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
  compare.same("per_client", summary.privacy->per_client, is_list("noise_multiplier") || is_list("budget"));
}

}  // namespace

void verify_settings(const AuditedRun& run, Verification& verification) {
  const Summary& summary = run.summary;
  const Written written(run.experiment, run.settings);
  Comparison compare(verification, run.file(kSummaryFile));
  compare.text("dataset", summary.dataset, written.dataset(summary.dataset));
  compare.text("partition", summary.partition, written.partition());
  compare.text("partition_id", summary.partition_id, written.partition_id(summary.seed));
  compare.text("model", summary.model, written.model());
  compare_lists(run.experiment, summary, run.settings, compare);
}

namespace {

using Words = std::vector<std::string>;

// Settings that are one of a few words, which stand here where accounting does not have them: they are
// declared where no record is read. Those of algorithms are declared by plugins, which nobody asks here.
std::map<std::string, Words> settings_of_words() {
  const auto words = [](const auto& names) { return Words(names.begin(), names.end()); };
  return {{"experiment.device", {"auto", "cpu", "cuda", "cuda:N"}},
          {"experiment.dtype", {"float32", "float64"}},
          {"evaluation.per_client", {"true", "false"}},
          {"audit.kind", {"gradient", "mislabelled", "client"}},
          {"audit.noise", {"on", "off"}},
          {"noise_source", {"stream", "system"}},
          {"mechanism", {"gaussian", "laplace", "laplace-relative"}},
          {"sampling", words(kSamplingNames)},
          {"policy", words(kUnitNames)},
          {"orders", words(kOrdersNames)},
          {"conversion", words(kConversionNames)},
          {"assume", words(kAssumptionNames)}};
}

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
  const std::map<std::string, Words> all_words = settings_of_words();
  Kinds kinds(compare);
  for (const auto& [key, text] : settings.texts) {
    const std::size_t policy = key.find(kPolicy);
    const bool of_algorithm = key.starts_with("algorithms.") && policy == std::string::npos;
    const std::string name = policy == std::string::npos ? key : key.substr(policy + kPolicy.size());
    if (const auto words = all_words.find(name); words != all_words.end()) {
      kinds.result(contains(words->second, word_of(key, text)), key, "", text,
                   fmt::format("one of {}", fmt::join(words->second, ", ")));
    }
    const std::optional<double> number = parse_number<double>(text);
    if (number && !of_algorithm && !settings.quoted.contains(key))
      kinds.result(*number >= 0, key, "", text, "a number from 0");
  }
  kinds.conclude();
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

void verify_domains(const AuditedRun& run, Verification& verification) {
  compare_domains(run.settings, Comparison(verification, run.file(kExperimentFile)));
  if (run.directory.has(kEnvironmentFile))
    compare_environment(read_environment(run.directory.path()), run.summary, run.settings,
                        Comparison(verification, run.file(kEnvironmentFile)));
}

}  // namespace fedarena::results
