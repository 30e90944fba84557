// Whether the experiment file and the environment are what the program could have read and met with.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/text.hpp"

#include "harness/digest/sha256.hpp"
#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
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
