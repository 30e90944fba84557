#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/accounting/ledger.hpp"

#include "tests/results/recorded_run.hpp"

namespace fedarena::results {

// Clients of 100, 101 and 20 examples, batches of 20: 5, 6 and 1 steps an epoch.
inline constexpr std::array<std::int64_t, 3> kSizes = {100, 101, 20};
inline constexpr std::int64_t kRounds = 4;

/// Settings of an experiment, as its file writes them, by name.
using Settings = std::map<std::string, std::string>;

/// A run whose ledger is not what its experiment gives, with all that follows from it.
class ForgedRun : public testing::Test {
 protected:
  // As `to_toml` writes it, under these settings instead of the usual ones.
  static std::string toml(const std::string& policy, const Settings& changed = {}) {
    Settings settings = changed;
    settings.insert({{"name", "\"dp-fedavg\""},
                     {"batch_size", "20"},
                     {"local_epochs", "2"},
                     {"local_steps", "0"},
                     {"policy", fmt::format("\"{}\"", policy)},
                     {"sampling", "\"poisson\""},
                     {"noise_multiplier", "2.0"},
                     {"clip_norm", "1.0"},
                     {"noise_source", "\"stream\""},
                     {"public_classes", "false"},
                     {"adaptive_clipping", "false"},
                     {"count_noise", "0.0"},
                     {"as_if_cohort", "0"},
                     {"as_if_population", "0"},
                     {"size", "0"},
                     {"seeds", "[1]"},
                     {"rounds", std::to_string(kRounds)},
                     {"clients", "3"},
                     {"held_out_clients", "0.0"}});
    const std::vector<std::pair<std::string, std::vector<std::string>>> sections = {
        {"[experiment]", {"seeds", "rounds", "dtype"}},
        {"[partition]", {"clients"}},
        {"[evaluation]", {"held_out_clients"}},
        {"[cohort]", {"size"}},
        {"[[algorithms]]", {"name", "batch_size", "local_epochs", "local_steps", "assign", "hypotheses"}},
        {"[algorithms.privacy]",
         {"policy", "clip_norm", "noise_multiplier", "sampling", "noise_source", "public_classes",
          "adaptive_clipping", "count_noise", "as_if_cohort", "as_if_population", "mechanism", "by_tensor",
          "budget", "epsilon", "stages", "public_label_counts"}}};
    std::string text;
    for (const auto& [section, names] : sections) {
      text += section + "\n";
      for (const std::string& name : names) {
        if (settings.contains(name)) text += fmt::format("{} = {}\n", name, settings.at(name));
      }
    }
    return text;
  }

  static SampledGaussian gaussian(double rate, double noise_multiplier = 2) {
    return {Sampling::kPoisson, rate, {noise_multiplier}, Adjacency::kZeroOut};
  }
  static RoundAccesses accesses(const Event& event, std::int64_t count) {
    return RoundAccesses({{event, count}});
  }

  // What that experiment does to a client in every round under the policy "record".
  static RoundAccesses honest(std::int64_t client) {
    constexpr std::array<std::int64_t, 3> kSteps = {10, 12, 2};
    const auto index = static_cast<std::size_t>(client);
    const auto size = static_cast<double>(kSizes.at(index));
    return as_planned(accesses(gaussian(std::min(1.0, 20 / size)), kSteps.at(index)));
  }
  // With nothing left over of its plan, where it does not say what.
  static RoundAccesses as_planned(RoundAccesses round) {
    if (!round.unmade()) round.leave_unmade({});
    return round;
  }

  using Train = std::function<RoundAccesses(std::int64_t client)>;
  using Answers = std::function<RoundAccesses(std::int64_t round)>;

  // Three clients, and what happens to each in a round; none where it sits the round out.
  using Rounds = std::function<std::optional<RoundAccesses>(std::int64_t round, std::int64_t client)>;
  struct RestOfLedger {
    std::array<std::int64_t, 3> sizes = {100, 100, 100};
    Answers population = {}, as_if = {};  // what happens to all of them at once
    std::int64_t rounds = kRounds;
    std::int64_t ended_after = 0;
  };
  static Ledger ledger_of(Unit unit, const Rounds& happens, const RestOfLedger& rest) {
    Ledger ledger(unit);
    for (std::int64_t client = 0; client < 3; ++client)
      ledger.add_client(client, rest.sizes.at(static_cast<std::size_t>(client)));
    for (std::int64_t round = 1; round <= rest.rounds; ++round) {
      if (rest.ended_after > 0 && round == rest.ended_after + 1) ledger.end_after(rest.ended_after);
      for (std::int64_t client = 0; client < 3; ++client) {
        if (const auto accesses = happens(round, client)) ledger.record(round, client, *accesses);
      }
      if (rest.population) ledger.record_population(round, rest.population(round));
      if (rest.as_if) ledger.record_as_if(round, rest.as_if(round));
    }
    return ledger;
  }
  static Ledger ledger_of(Unit unit, const Rounds& happens) { return ledger_of(unit, happens, {}); }

  static Ledger ledger_of_records(const Train& train, std::int64_t rounds = kRounds,
                                  std::int64_t ended_after = 0) {
    return ledger_of(Unit::kRecord, [&](auto, std::int64_t client) { return as_planned(train(client)); },
                     {.sizes = kSizes, .rounds = rounds, .ended_after = ended_after});
  }

  // Under the policy "client", where each takes part in every round.
  static Ledger ledger_of_clients(const Answers& population, const Answers& as_if,
                                  std::int64_t ended_after = 0) {
    return ledger_of(Unit::kClient, [](auto, auto) { return RoundAccesses(); },
                     {.population = population, .as_if = as_if, .ended_after = ended_after});
  }
  static Ledger ledger_of_clients(const RoundAccesses& population, const RoundAccesses& as_if = {}) {
    const auto always = [](const RoundAccesses& answer) { return [=](std::int64_t) { return answer; }; };
    return ledger_of_clients(always(population), as_if.list().empty() ? Answers() : Answers(always(as_if)));
  }

  // That the ledger differs in this and in nothing else.
  static testing::Matcher<std::vector<std::string>> differs(const std::string& what) {
    return testing::ElementsAre("ledger.json: " + what);
  }
  // The difference that each of the three clients has.
  static std::string of_all(const std::string& kind, const std::string& recorded,
                            const std::string& recomputed) {
    return fmt::format("ledger.json: {} of client 0 and 2 more is {}; recomputed: {}", kind, recorded,
                       recomputed);
  }

  // What verify_ledger() says of a run with that ledger, without the folder.
  std::vector<std::string> differences(const std::string& toml, const Ledger& ledger,
                                       std::int64_t examples = 20 * (10 + 12 + 2),
                                       std::int64_t held_out_clients = 0,
                                       const std::optional<PrivacyClaim>& claim = {}) {
    Summary summary = unfinished("dp-fedavg", 1, kRounds);
    summary.held_out_clients = held_out_clients;
    if (claim) summary.policy = claim->unit;
    summary.privacy = claim;
    return differences_of(summary, toml, ledger, examples);
  }

  // The same of a finished run that a rule stopped after so many rounds.
  std::vector<std::string> differences_after_a_stop(std::int64_t rounds, const std::string& toml,
                                                    const Ledger& ledger) {
    Summary summary = finished("dp-fedavg", 1, 0.5);
    summary.rounds_done = rounds;
    summary.stopped = kStoppedByPatience;
    return differences_of(summary, toml, ledger, 20 * (10 + 12 + 2));
  }

  // The same of a run that ended before its first round.
  std::vector<std::string> differences_before_a_round(const std::string& toml, const Ledger& ledger) {
    return differences_of(unfinished("dp-fedavg", 1, 0), toml, ledger, 0);
  }

  // Whether the rounds of runs from here on tell accuracies of clients.
  void test_clients(bool tests) { tests_clients_ = tests; }
  // How many gradients they count of an example.
  void test_gradients(std::int64_t gradients) { gradients_ = gradients; }

 private:
  std::vector<std::string> differences_of(Summary summary, const std::string& toml, const Ledger& ledger,
                                          std::int64_t examples) {
    const std::filesystem::path path = scratch_ / std::to_string(++runs_);
    summary.rounds = kRounds;
    summary.clients = 3;
    const std::int64_t rounds = summary.rounds_done;
    Summary begun = summary;
    begun.rounds_done = 0;
    begun.state = kRunning;
    begun.stopped.clear();
    begun.final_test_accuracy = begun.final_test_loss = std::nullopt;
    RunDirectory run = RunDirectory::create(path, toml, "{}", begun);
    for (std::int64_t round = 1; round <= rounds; ++round) {
      RoundRecord record = round_record(round);
      record.clients = 3;
      const bool sends_two = toml.find("\"scaffold\"") != std::string::npos;  // of each size
      const std::int64_t numbers = (sends_two ? 8 : 4) * summary.parameters;
      record.downlink_bytes = 3 * ((sends_two ? 58 : 32) + numbers);
      record.uplink_bytes = 3 * ((sends_two ? 72 : 51) + numbers);
      record.examples = examples;
      record.cost.gradients = gradients_ * examples;
      if (tests_clients_) record.per_client = ClientMetrics{.tested = 3};
      run.append(record);
    }
    run.write_file_atomically(kLedgerFile, ledger.to_json());
    run.write_summary(summary);
    return difference_lines(verify_ledger(path));
  }

  const Scratch scratch_;
  int runs_ = 0;
  std::int64_t gradients_ = 1;
  bool tests_clients_ = false;
};

}  // namespace fedarena::results
