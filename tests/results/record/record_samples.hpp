#pragma once

#include <limits>
#include <map>
#include <string>

#include "results/record/canary_audit.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/test_metrics.hpp"
#include "tests/infinity.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/record/tuning_sample.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {

/// Scores of a gradient audit that guesses four times: 2 of the guesses are right.
inline CanaryScores six_canaries() {
  return {.kind = "gradient",
          .guesses = 4,
          .scores = {0.5, 3, -2, 7, 0.25, -1},
          .in = {true, false, false, true, true, true}};
}

/// Two clients' scores after round 4.
inline ClientScores two_scores() { return {4, {{0, 12, 0.75, 0.5}, {2, 7, 1, 0.875}}}; }

/// three_clients(), noisier from one to the next, one of them turned.
inline RecordedPartition skewed() {
  RecordedPartition partition = three_clients();
  partition.noise = {0, 0.05, 0.1};
  partition.rotations = {0, 90, 0};
  return partition;
}

/// Summaries in which everything stands that one can hold, by what is particular about them.
inline std::map<std::string, Summary> sample_summaries() {
  std::map<std::string, Summary> all;
  const auto add = [&](const std::string& name, const Summary& summary) -> Summary& {
    return all[name] = summary;
  };
  const Summary plain = finished("fedavg", 1, 0.5), secret = finished_privately("fedavg", 1, 0.5);
  add("summary", plain);
  add("precise", finished("fedavg", 7, 1.0 / 3)).dataset_note = "a \"note\"\nof two lines, é";
  all["precise"].algorithm_parameters = {{"z", "1"}, {"a", "2"}};
  add("unfinished", unfinished("fedavg", 1, 0));
  add("regression", plain).final_test_accuracy.reset();
  add("failed", unfinished("fedavg", 1, 3)).state = kFailed;
  all["failed"].failure = "it threw a stone";
  add("dealt", plain).partition_id = "iid(clients=10,seed=1)";
  all["dealt"].partition_hash = "ab";
  add("measured", plain).best_round = BestOverRounds{0.8, 12, 0.7, 14};
  all["measured"].per_client = ClientMetrics{9, 0.75, 0.5, 0.125, 0.625};
  add("errors", all["regression"]).client_errors = ClientErrors{4, 2.5, kInfinity, 0.5};
  for (const std::string_view rule : {kStoppedByTarget, kStoppedByPatience}) {
    Summary& ruled = add("by " + std::string(rule), plain);
    ruled.rounds_done = 7;
    ruled.stopped = rule;
  }
  for (const bool at_least : {false, true}) {
    Summary& counted = add(at_least ? "counted from below" : "counted", plain);
    counted.examples = 640;
    counted.cost = {700, 5'000'000'000, at_least};
  }

  add("tuned", plain).tuning = tuned_by(6);
  add("tuned, running", unfinished("fedavg", 1, 3)).tuning = tuned_by(1);
  Tuning by_loss = tuned_by(12, {{"training.rate", "0.3"}, {"algorithms.\"a b\".name", "\"quoted\""}});
  by_loss.search = "random";
  by_loss.seed = 7;
  by_loss.criterion = kByValidationLoss;
  for (const auto& [name, loss] : {std::pair("by-loss", 1.5), {"tiny loss", 1e-300}, {"large loss", 1e300}}) {
    by_loss.score = loss;
    add(name, plain).tuning = by_loss;
  }

  add("private", secret);
  add("units", secret).privacy->units = 600;
  add("stopped", stopped_by_budget("fedavg", 1, 0.5));
  for (const char* policy : {"record", "client"}) {
    Summary& planned =
        add(policy == std::string("record") ? "planned" : "client", unfinished("fedavg", 1, 3));
    planned.policy = policy;
    planned.privacy = PrivacyClaim{.unit = policy, .budget = 8};
  }
  for (const auto& [name, claim] : {std::pair("nothing spent", Claim{.epsilon = 0}),
                                    {"infinite", Claim{.epsilon = kInfinity}},
                                    {"unproven", unproven("a\n\"reason\"")}}) {
    PrivacyClaim& privacy = *add(name, secret).privacy;
    privacy.rdp = privacy.pld = privacy.as_if_rdp = privacy.as_if_pld = claim;
    privacy.order = 0;
  }
  PrivacyClaim& unproven_claim = *all["unproven"].privacy;
  unproven_claim.settings = {.delta = 0, .orders = "default", .conversion = "classic", .assume = "poisson"};
  unproven_claim.assumed = true;
  unproven_claim.exact_access = "fedavg: loss of client 3, round 1";
  PrivacyClaim& pure = *add("pure", secret).privacy;
  pure.order = kInfinity;  // the sum of pure epsilons
  pure.made_rdp = Claim{.epsilon = 0.5};
  pure.made_pld = Claim{.epsilon = 0.25};
  pure.adjacency = "";
  pure.public_data = {"each client's classes", "the server's proxy data"};
  PrivacyClaim& own = *add("budgets", secret).privacy;
  own.per_client = true;
  own.least_rdp = Claim{.epsilon = 0.5};
  own.least_pld = unproven("no bound");
  own.spent_clients = 3;
  own.budget = PerClient(std::vector{1.0, 2.5});
  add("audited", secret).audit = audit_of(six_canaries(), *secret.privacy);
  add("audited, no claim", all["audited"]).audit->p_value.reset();
  return all;
}

/// The same of rounds.
inline std::map<std::string, RoundRecord> sample_rounds() {
  std::map<std::string, RoundRecord> all;
  const auto add = [&](const std::string& name) -> RoundRecord& { return all[name] = round_record(3); };
  RoundRecord& unevaluated = add("unevaluated-round");
  unevaluated.test_loss = unevaluated.test_accuracy = std::nullopt;
  unevaluated.uplink_bytes = std::numeric_limits<std::int64_t>::max();
  unevaluated.train_seconds = 0.1 + 0.2;
  add("round");
  add("free-round").epsilon = 0.0;
  add("private-round").epsilon = 2.78664;
  add("infinite-round").epsilon = kInfinity;
  RoundRecord& measured = add("measured-round");
  measured.classes = ClassMetrics{.accuracy = {0.5, std::nullopt, 1.0}, .macro_f1 = 0.25};
  measured.validation_loss = 0.5;
  measured.validation_accuracy = 0.875;
  measured.per_client = ClientMetrics{9, 0.75, 0.5, 0.125, 0.625};
  RoundRecord& regression = add("regression-round");
  regression.test_accuracy.reset();
  regression.client_errors = ClientErrors{4, 2.5, kInfinity, 0.5};
  RoundRecord& observed = add("observed-round");
  observed.observed = {{"matching-loss", 0.1}, {"radius", kInfinity}};
  observed.choices = {{2, 0}, {7, 3}};
  add("exact-round").cost = {700, 5'000'000'000, false};
  add("counted-round").cost = {700, 5'000, true};
  return all;
}

}  // namespace fedarena::results
