#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/measures/quantity.hpp"

namespace fedarena::results {

/// The round that is asked. It is chosen by what is known without any test result.
enum class Moment {
  kLast,        ///< the last round of the run
  kRound,       ///< the one of that number
  kEpsilon,     ///< the last evaluated one after which epsilon (RDP) is at most that much
  kBytes,       ///< the last evaluated one by which all clients had sent and received at most that many bytes
  kValidation,  ///< the first one with at least that validation accuracy, which did not diverge
  kBestValidation  ///< the one with the best validation accuracy, without it the smallest validation loss
};

/// A number that is read from the rounds of a run, or from the attacks on it.
struct RoundMetric {
  Quantity quantity = known_quantity("accuracy");
  Moment moment = Moment::kLast;
  double limit = 0;       ///< of the moment; 0 where it has none
  std::string text = {};  ///< as users write it
};

/// "accuracy", "worst-client@round=20", "class:3@epsilon=3", "seconds@bytes=1e6", "accuracy@best-validation",
/// "round@validation-accuracy=0.7", "attack-auc:loss", and what finished ones of `runs` observe; anything
/// else is an Error that says what is allowed.
RoundMetric parse_round_metric(const std::string& text, std::span<const FoundRun> runs = {});

/// Whether it says what a run spent until it ended. Who had to end early spent less, which is no merit: where
/// any run did (`ended_early`), nobody is better by it.
bool is_spent_until_the_end(const RoundMetric& metric);

/// What it may be of, without what algorithms observe, for help.
std::vector<std::string> metric_names();

/// What a run says of a metric.
struct Reading {
  std::optional<double> value = {};  ///< a fraction, a loss, a cost; nan or infinite where a model diverged
  std::int64_t round = 0;            ///< that was read; 0 when there is none
  std::string missing = {};          ///< why there is no value: "no round 20"; empty exactly with one
};

/// `rounds`: those of a finished run of that claim.
Reading read_metric(const RoundMetric& metric, const std::optional<PrivacyClaim>& claim,
                    std::span<const RoundRecord> rounds);

/// The same, of the run in that directory: from its rounds, or from its attacks, which are on the model after
/// the last of them.
Reading read_metric(const RoundMetric& metric, const Summary& summary, const std::filesystem::path& run);

/// For the head of a column: "macro F1 (%) at round 20".
std::string heading(const RoundMetric& metric);

/// For a legend: "Macro F1 after round 20".
std::string describe(const RoundMetric& metric);

}  // namespace fedarena::results
