#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/base/error.hpp"

#include "results/record/canary_audit.hpp"
#include "results/record/privacy_claim.hpp"
#include "results/record/sweep.hpp"
#include "results/record/test_metrics.hpp"

namespace fedarena::results {

/// What clients and server computed in a round or a run, evaluations left out.
struct Cost {
  /// Gradients of single examples: those of clients' private examples and those that algorithms took on
  /// public or synthetic ones.
  std::int64_t gradients = 0;
  /// Floating-point operations of these gradients, of gradients in their inputs and of losses that algorithms
  /// asked for, as counted from the model: multiplications and additions of convolutions and affine maps.
  std::int64_t operations = 0;
  bool at_least = false;  ///< whether a plugin computed more on its own, which nobody counted
  bool operator==(const Cost&) const = default;
};

/// Which of several models, from 0, a client took or was given in a round.
struct ModelChoice {
  std::int64_t client = 0;
  std::int64_t model = 0;
  bool operator==(const ModelChoice&) const = default;
};

/// What one round cost and brought: a line of `rounds.jsonl`.
struct RoundRecord {
  std::int64_t round = 1;               ///< from 1
  std::optional<double> test_loss;      ///< none when the round was not evaluated; may be nan or infinite
  std::optional<double> test_accuracy;  ///< a fraction from 0 to 1; none when the round was not evaluated
  std::int64_t clients = 0;             ///< the size of the cohort
  std::int64_t examples = 0;            ///< gradients of clients' examples that were evaluated in this round
  std::int64_t uplink_bytes = 0;        ///< serialised buffers, summed over the cohort
  std::int64_t downlink_bytes = 0;      ///< serialised buffers, summed over the cohort
  double train_seconds = 0;
  double evaluation_seconds = 0;
  std::optional<double>
      epsilon;  ///< of RDP, after this round; may be infinite; none under the policy "none" or where unproven

  std::optional<ClassMetrics> classes = {};        ///< none on regression data
  std::optional<double> validation_loss = {};      ///< none without validation examples or held-out clients
  std::optional<double> validation_accuracy = {};  ///< the same; none on regression data
  std::optional<ClientMetrics> per_client = {};    ///< none unless clients are tested
  std::optional<ClientErrors> client_errors = {};  ///< the same; on regression data in place of the former
  /// Whether these clients were tested with models of their own, which algorithms may make for them.
  bool personal = false;
  Cost cost = {};  ///< what the round took to compute
  /// What the algorithm told of itself, name and mean, names ascending; may be nan or infinite.
  std::vector<std::pair<std::string, double>> observed = {};
  /// Where the algorithm has several models: who trained which, clients ascending.
  std::vector<ModelChoice> choices = {};
  /// Of each tested client, which `per_client` or `client_errors` sums up. Not part of the line: see
  /// `ClientScores`.
  std::vector<ClientScore> client_scores = {};

  bool operator==(const RoundRecord&) const = default;
};

/// The state of a run, as `Summary::state` names it.
inline constexpr std::string_view kRunning = "running";
inline constexpr std::string_view kInterrupted = "interrupted";
inline constexpr std::string_view kFailed = "failed";
inline constexpr std::string_view kFinished = "finished";

/// The rules that end a run early, as `Summary::stopped` names them.
inline constexpr std::string_view kStoppedByTarget = "target";
inline constexpr std::string_view kStoppedByPatience = "patience";

/// What one cell (one algorithm with one seed) is and brought: `summary.json`.
struct Summary {
  std::string experiment;  ///< the experiment's name
  std::string label;       ///< names the algorithm entry; unique in its experiment
  std::string algorithm;   ///< the registered name
  std::string dataset;
  std::string dataset_note;         ///< what a reader of the table must know about the data, or empty
  std::string data_hash = {};       ///< SHA-256 of the examples that it was given
  std::string partition;            ///< how examples were dealt to clients, in words
  std::string partition_id = {};    ///< the same as an exact name
  std::string partition_hash = {};  ///< of who holds which examples
  std::string model;
  Sweep sweep = {};  ///< what the point of a grid gives; empty without one
  std::int64_t seed = 0;
  std::int64_t rounds = 1;            ///< planned
  std::int64_t rounds_done = 0;       ///< equal to `rounds` once finished, unless the budget stopped the run
  std::int64_t clients = 1;           ///< in the federation
  std::int64_t held_out_clients = 0;  ///< of them, that never train; the validation scores are theirs
  std::int64_t parameters = 0;        ///< numbers in the model
  std::string state = std::string(kRunning);
  std::string failure = {};  ///< why the algorithm failed; empty unless that is the state
  std::optional<double>
      final_test_accuracy;  ///< of the last round; only when finished; none on regression data
  /// Of the last round; present exactly when finished. On regression data half the squared distance between
  /// output and target, averaged.
  std::optional<double> final_test_loss;
  std::string policy = "none";          ///< of privacy: none, record or client
  std::optional<PrivacyClaim> privacy;  ///< none exactly under the policy "none"
  /// Settings of the policy that the claim does not hold, such as the clip norm: name and value.
  std::vector<std::pair<std::string, std::string>> policy_settings = {};
  std::int64_t uplink_bytes = 0;    ///< of the whole run
  std::int64_t downlink_bytes = 0;  ///< of the whole run
  /// Means over the rounds of every cohort member; 0 where no cohort had any, and where cohorts are secret
  /// and their messages not declared as long in every round as in any: such a mean would tell of them.
  double uplink_bytes_per_client_round = 0, downlink_bytes_per_client_round = 0;
  double seconds = 0;         ///< of the whole run
  std::int64_t examples = 0;  ///< as in `RoundRecord`, of the whole run; 0 before its end
  Cost cost = {};             ///< of the whole run, likewise
  std::string stopped = {};   ///< the rule that ended the run early: one of the two above, or empty
  std::optional<ClientMetrics> per_client = {};    ///< of the last round; none unless clients are tested
  std::optional<BestOverRounds> best_round = {};   ///< of the clients; none exactly with them
  std::optional<ClientErrors> client_errors = {};  ///< of the last round; on regression data
  bool personal = false;                           ///< as in `RoundRecord`, of the last round
  std::optional<CanaryAudit> audit = {};           ///< only when finished; none without canaries
  std::optional<Tuning> tuning = {};               ///< none where the experiment file tunes nothing
  std::vector<std::pair<std::string, std::string>> algorithm_parameters;  ///< name and value, names distinct

  bool operator==(const Summary&) const = default;
};

/// Whether the run's policy hides how many examples of which class each client holds, which its experiment
/// may declare public.
bool hides_label_counts(const Summary& summary);

/// What the run's epsilons assume that nobody has proven: "poisson"; or empty. Before its end, whatever its
/// settings allow to assume.
std::string assumption(const Summary& summary);

/// Whether the run's audit contradicts its claim: see `contradicts`.
bool audit_contradicts(const Summary& summary);

/// The fields of a record, whatever they hold.
Json to_json(const RoundRecord& record);
Json to_json(const Summary& summary);

/// The JSON line of a record, without a line end. A record that could not be read back is a Bug.
std::string to_json_line(const RoundRecord& record);

/// The JSON text of a summary, with a last line end. A summary that could not be read back is a Bug.
std::string to_json_text(const Summary& summary);

/// Reads a line of `rounds.jsonl`. Anything but a whole, valid record is an Error at `place`, naming the
/// field.
RoundRecord parse_round(std::string_view line, const Place& place);

/// Reads the text of a `summary.json`. Anything but a whole, valid summary is an Error that names `file` and
/// the field.
Summary parse_summary(std::string_view text, const std::string& file);

/// The sum over rounds.
Cost total_cost(std::span<const RoundRecord> rounds);

/// Whether the run is finished with a model whose test loss is nan or infinite.
bool diverged(const Summary& summary);
/// Whether a budget of epsilon or a rule of `[stopping]` ended the run before its planned rounds.
bool ended_early(const Summary& summary);

/// "running", "interrupted", "failed" or "finished", and in parentheses what ended the run before its last
/// planned round (its budget of epsilon, or a rule of `[stopping]`) and that it diverged.
std::string state_text(const Summary& summary);

}  // namespace fedarena::results
