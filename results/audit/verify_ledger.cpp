// A ledger against the experiment of its run: who took part and when, what was kept and drawn.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/accounting/odometer.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/compare_accesses.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/expected_ledger.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/record/partition_file.hpp"
#include "results/record/run_directory.hpp"
#include "results/text/number_format.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

using Segment = Ledger::Segment;

// Who took part is a matter of seed, round and cohort alone. `what`: the rounds are of. `may_be_lost`: rounds
// whose answers a crash lost, and which the client did not take part in again, are charged beside them.
void compare_rounds(std::int64_t client, const std::vector<Segment>& segments,
                    const std::vector<std::int64_t>& rounds, const std::string& what, bool may_be_lost,
                    Kinds& kinds) {
  const std::string whose = client_text(client);
  const std::int64_t recorded = Ledger::participations_of(segments);
  kinds.result(recorded == std::ssize(rounds), what, whose, recorded, rounds.size());
  for (const Segment& segment : segments) {
    if (segment.participations == 0 && may_be_lost) continue;
    const auto first = std::ranges::lower_bound(rounds, segment.first_round);
    const auto end = std::ranges::upper_bound(rounds, segment.last_round);
    const std::int64_t within = end - first;
    const bool fits = within == segment.participations && within > 0 && *first == segment.first_round &&
                      *(end - 1) == segment.last_round;
    const std::string where = range_text(segment.first_round, segment.last_round);
    kinds.result(fits, what + " of a segment", whose, fmt::format("{} of {}", segment.participations, where),
                 fmt::format("{} of {}", within, where));
  }
}

// Where the system's generator drew the cohorts: within the rounds, and nobody who never trains. Attempts
// that a crash lost are in there, with clients of their own.
void compare_secret_rounds(std::int64_t client, const std::vector<Segment>& segments, bool trains,
                           std::int64_t last, Kinds& kinds) {
  const std::int64_t recorded = Ledger::participations_of(segments);
  const std::int64_t most = trains ? last : 0;
  kinds.result(recorded <= most, "rounds", client_text(client), recorded, fmt::format("at most {}", most));
  for (const Segment& segment : segments) {
    if (segment.participations == 0) continue;  // lost, and perhaps never made again
    kinds.result(segment.last_round <= last, "last round", client_text(client), segment.last_round,
                 fmt::format("at most {}", last));
  }
}

// Under budgets of the clients' own, a client takes part until another round would cost more than it has.
class OwnBudgets {
 public:
  OwnBudgets(const ExpectedLedger& expected, const PrivacyClaim& claim)
      : expected_(expected), odometer_(claim.settings) {}

  // Leaves in `rounds` those in which the client took part: the first.
  // `withheld`: a round was, of which the ledger does not hold what it would have cost.
  void cut(std::int64_t client, const std::vector<Segment>& segments, bool withheld,
           std::vector<std::int64_t>& rounds, Kinds& kinds) {
    const auto drawn = std::ssize(rounds);
    const std::int64_t took_part = Ledger::participations_of(segments);
    const std::string whose = client_text(client);
    const double budget = expected_.budget(client);
    const std::vector<Access> accesses = Ledger::charged_of(segments);
    const double epsilon = epsilon_of(accesses);
    kinds.result(epsilon <= budget, "epsilon", whose, epsilon, "at most the budget " + exact_number(budget));
    // What another round would cost is known of rounds that were all alike, but for a first one that was
    // free.
    double another = std::numeric_limits<double>::infinity();
    if (segments.size() == 1 && !accesses.empty()) {
      std::vector<Access> more = accesses;
      const std::vector<Access> round = segments.front().round().charged();
      more.insert(more.end(), round.begin(), round.end());
      another = epsilon_of(more);
    }
    const bool left_out = took_part < drawn;
    // Another plugin may have planned a dearer one.
    const bool may_differ =
        !segments.empty() && segments.back().unmade && !expected_.numbers_released(1).has_value();
    kinds.result(!left_out || withheld || may_differ || another > budget, "rounds", whose, took_part,
                 fmt::format("{}, because the budget {} pays for another one", drawn, exact_number(budget)));
    const bool predicted = segments.size() == 1 && took_part > 1 && another > budget && !accesses.empty();
    if (left_out || predicted) ++spent_;
    if (left_out) rounds.resize(static_cast<std::size_t>(took_part));
  }

  std::int64_t spent() const { return spent_; }

 private:
  // What is unproven counts as infinite.
  double epsilon_of(const std::vector<Access>& accesses) const {
    return odometer_.epsilon(accesses).epsilon.value_or(std::numeric_limits<double>::infinity());
  }

  const ExpectedLedger& expected_;
  Odometer odometer_;
  std::int64_t spent_ = 0;  // clients
};

// What personal models took: after each round in which clients were tested with them, and exactly, since
// nothing of it is sent.
void compare_kept(std::int64_t client, const std::vector<Segment>& kept,
                  const std::vector<std::int64_t>& rounds,
                  const std::optional<std::set<std::int64_t>>& tested, Kinds& kinds) {
  if (kept.empty() && rounds.empty()) return;
  // Without the scores of single clients nobody knows which of them were tested.
  const bool is_tested = tested ? tested->contains(client) : !kept.empty();
  compare_rounds(client, kept, is_tested ? rounds : std::vector<std::int64_t>(), "kept rounds", false, kinds);
  for (const Access& access : Ledger::accesses_of(kept)) {
    // Randomised responses of personal models change no message, either.
    kinds.result(!is_noised(access.event), "kept access", client_text(client), describe(access.event),
                 "an exact access");
  }
}

// How many examples a round's gradients were taken of, by the ledger: the mean and the variance.
struct Draws {
  double mean = 0, variance = 0;
};

Draws draws_of(const Segment& segment, std::int64_t examples) {
  Draws draws;
  for (const Access& access : segment.accesses) {
    const auto* event = std::get_if<SampledGaussian>(&access.event);
    if (event == nullptr) continue;
    const double mean = static_cast<double>(access.count) * event->rate * static_cast<double>(examples);
    draws.mean += mean;
    if (event->sampling == Sampling::kPoisson) draws.variance += mean * (1 - event->rate);
  }
  return draws;
}

// Adds those of a client to the rounds that it took part in.
void add_draws(const Ledger::ClientRecord& record, const std::vector<std::int64_t>& rounds,
               std::vector<Draws>& draws) {
  for (const Segment& segment : record.segments) {
    const Draws of_client = draws_of(segment, record.examples);
    for (auto round = std::ranges::lower_bound(rounds, segment.first_round);
         round != rounds.end() && *round <= segment.last_round; ++round) {
      Draws& all = draws[static_cast<std::size_t>(*round - 1)];
      all.mean += of_client.mean;
      all.variance += of_client.variance;
    }
  }
}

// The rounds count the examples whose gradients were clipped and noised. Poisson samples stay within
// Bernstein's bound but once in 10^12 rounds, so that a count of accesses that was changed is noticed also
// where no setting tells it.
void compare_draws(const std::vector<Draws>& draws, std::span<const RoundRecord> rounds, Comparison compare) {
  constexpr double kLog = 28.3;  // of 2 * 10^12
  for (std::size_t i = 0; i < std::min(draws.size(), rounds.size()); ++i) {
    const double slack = kLog / 3 + std::sqrt(kLog * kLog / 9 + 2 * kLog * draws[i].variance);
    const double off = std::abs(static_cast<double>(rounds[i].examples) - draws[i].mean);
    compare.result(off <= (draws[i].variance > 0 ? slack : 0.5), fmt::format("round {} examples", i + 1),
                   rounds[i].examples,
                   fmt::format("{} by the ledger", exact_number(std::round(draws[i].mean))));
  }
}

// What every client was sent or sent itself, which tells how large the model is. `way`: "to" or "by".
void compare_bytes(std::span<const RoundRecord> rounds, std::int64_t RoundRecord::*recorded,
                   std::optional<std::int64_t> bytes, const char* field, const char* way, Kinds& kinds) {
  for (const RoundRecord& round : rounds) {
    if (!bytes) return;
    const std::int64_t all = round.*recorded;
    const std::string due = fmt::format("{} {} each of {} clients", *bytes, way, round.clients);
    const bool fits =
        round.clients == 0 ? all == 0 : all % round.clients == 0 && all / round.clients == *bytes;
    kinds.result(fits, field, fmt::format(" of round {}", round.round), all, due);
  }
}

// The last round that a ledger must hold, as far as cohorts are computed: a run that data ended is charged
// for all rounds that were planned, and a ledger is written before its round. A round may fail after that, or
// be made again after a crash.
std::int64_t last_charged_round(const Ledger& ledger, const Summary& summary, std::int64_t recorded,
                                std::int64_t planned) {
  constexpr std::int64_t kMost = 1'000'000;  // for an edited file; no run has as many
  planned = std::clamp<std::int64_t>(planned, 0, kMost);
  if (ledger.ended_after() > 0) return planned;
  if (summary.state != kRunning && summary.state != kFailed) return recorded;
  return std::min(ledger.last_round(), planned);
}

std::string words(const std::vector<std::string>& list) {
  return list.empty() ? "nothing" : fmt::format("{}", fmt::join(list, ", "));
}

// The rounds up to the last one in which each client takes part, where cohorts are not secret.
std::vector<std::vector<std::int64_t>> rounds_of_clients(const ExpectedLedger& expected, std::int64_t clients,
                                                         std::int64_t last) {
  std::vector<std::vector<std::int64_t>> rounds(static_cast<std::size_t>(clients));
  for (std::int64_t round = 1; round <= last && !expected.has_secret_cohorts(); ++round) {
    for (const std::int64_t client : expected.cohort(round, clients))
      rounds[static_cast<std::size_t>(client)].push_back(round);
  }
  return rounds;
}

// Whom the last test was of; none where their scores are not there one by one.
std::optional<std::set<std::int64_t>> last_tested(const RunDirectory& run) {
  const std::optional<ClientScores> scores = run.client_scores();
  if (!scores) return std::nullopt;
  std::set<std::int64_t> tested;
  for (const ClientScore& score : scores->clients) tested.insert(score.client);
  return tested;
}

// What all clients went through at once.
void compare_everybody(const Ledger& ledger, const ExpectedLedger& expected,
                       const std::optional<RecordedPartition>& card, Kinds& kinds) {
  if (ledger.unit() == Unit::kClient) {
    compare_population(ledger, expected, std::ssize(ledger.clients()), kinds);
    compare_reading(ledger, expected, kinds);
  } else if (ledger.unit() == Unit::kLabel) {
    const bool counted = card && !card->class_counts.empty();
    compare_labels(ledger, expected, counted ? std::ssize(card->class_counts.front()) : expected.classes(),
                   kinds);
  } else {
    compare_unprotected(ledger, expected, kinds);
  }
}

// Who never trains, as card and summary have it, where somebody is to be held out.
void compare_held_out(const AuditedRun& run, const std::vector<std::int64_t>& expected,
                      Verification& verification) {
  if (run.card && run.card->held_out != expected) {
    Comparison(verification, run.file(kPartitionFile))
        .result(false, "held_out", fmt::format("{}", run.card->held_out), fmt::format("{}", expected));
  }
  if (run.summary.held_out_clients > 0 || !expected.empty()) {
    Comparison(verification, run.file(kSummaryFile))
        .same("held_out_clients", run.summary.held_out_clients, std::ssize(expected));
  }
}

}  // namespace

Verification verify_ledger(const AuditedRun& run) {
  Verification verification;
  if (!run.ledger) return verification;
  const Ledger& ledger = *run.ledger;
  const ExpectedLedger& expected = run.expected;
  if (name(ledger.unit()) != expected.policy()) return verification;  // which verify_run() says
  const std::vector<RoundRecord>& rounds = run.recorded;
  const auto clients = std::ssize(ledger.clients());
  Comparison compare(verification, run.file(kLedgerFile));
  if (expected.clients()) compare.same("clients of the partition", clients, *expected.clients());
  compare.text("public_data", words(ledger.public_data()), words(expected.public_data(ledger.public_data())));
  const Summary& summary = run.summary;
  const bool charges_rest = !summary.stopped.empty() && ledger.unit() != Unit::kNothing;
  if (summary.state == kFinished) {
    compare.same("ended_after", ledger.ended_after(), charges_rest ? summary.rounds_done : 0);
  }
  const std::int64_t last = last_charged_round(ledger, summary, std::ssize(rounds), expected.rounds());
  const auto takes_part = rounds_of_clients(expected, clients, last);
  std::vector<std::int64_t> personal;
  for (const RoundRecord& round : rounds) {
    if (round.personal) personal.push_back(round.round);
  }
  const std::optional<std::set<std::int64_t>> tested = last_tested(run.directory);
  const std::vector<std::int64_t> held_out = expected.held_out(clients);
  compare_held_out(run, held_out, verification);
  Kinds kinds(compare);
  // Another plugin's clients may send different numbers of vectors.
  const bool alike = expected.is_repeatable() && expected.may_have_centres() && expected.accesses(0);
  ChargedRounds charged;
  std::optional<Odometer> odometer;
  if (summary.privacy) odometer.emplace(summary.privacy->settings);
  std::optional<OwnBudgets> budgets;
  if (expected.has_own_budgets() && summary.privacy) budgets.emplace(expected, *summary.privacy);
  std::vector<Draws> draws(static_cast<std::size_t>(last));
  for (const auto& [client, record] : ledger.clients()) {
    // An edited ledger may name any.
    const bool known = client >= 0 && client < clients;
    const bool is_held_out = std::ranges::binary_search(held_out, client);
    const bool trains = known && !is_held_out;
    std::vector<std::int64_t> own =
        known ? takes_part[static_cast<std::size_t>(client)] : std::vector<std::int64_t>();
    if (budgets && trains)
      budgets->cut(client, record.segments, ledger.withheld().contains(client), own, kinds);
    if (expected.has_secret_cohorts()) {
      compare_secret_rounds(client, record.segments, trains, last, kinds);
    } else {
      compare_rounds(client, record.segments, own, "rounds",
                     !expected.is_repeatable() || ended_in_exact_access(ledger), kinds);
    }
    if (summary.state == kFinished) {
      // The scores of those that are held out stand nowhere one by one.
      static const std::optional<std::set<std::int64_t>> kUnknown;
      compare_kept(client, record.kept, personal, is_held_out ? kUnknown : tested, kinds);
      if (tested && tested->contains(client))
        kinds.result(!is_held_out && record.examples > 0, "scores", client_text(client),
                     fmt::format("in {}", kClientsFile), "nowhere, as it holds no example or never trains");
    }
    if (ledger.unit() == Unit::kLocal) {
      compare_messages(client, record, expected, summary.parameters, kinds);
      const auto made = std::ranges::upper_bound(own, ledger.ended_after() > 0 ? ledger.ended_after() : last);
      for (const Segment& segment : record.segments) {
        if (alike)
          compare_centred(client, expected.noise_multiplier(client), segment, {own.begin(), made}, charged,
                          kinds);
      }
    }
    if (ledger.unit() != Unit::kRecord) continue;
    compare_records(client, record, ledger.ended_after(), expected, kinds);
    compare_exact_accesses(client, record, ledger.ended_after(), expected, kinds);
    if (odometer) compare_generation(client, record, ledger.ended_after(), expected, *odometer, kinds);
    add_draws(record, own, draws);
  }
  compare_everybody(ledger, expected, run.card, kinds);
  const bool tells_accuracies =
      std::ranges::any_of(rounds, [](const RoundRecord& round) { return round.per_client.has_value(); });
  if (tells_accuracies) compare_label_counts(ledger, expected, kinds);
  kinds.conclude();
  Kinds of_rounds(Comparison(verification, run.file(kRoundsFile)));
  compare_bytes(rounds, &RoundRecord::downlink_bytes, expected.bytes_sent_down(summary.parameters),
                "downlink_bytes", "to", of_rounds);
  compare_bytes(rounds, &RoundRecord::uplink_bytes, expected.bytes_sent_up(summary.parameters),
                "uplink_bytes", "by", of_rounds);
  for (const RoundRecord& round : rounds) {
    if (expected.counts_examples_by_gradients())
      of_rounds.result(round.cost.gradients == round.examples, "gradients",
                       fmt::format(" of round {}", round.round), round.cost.gradients,
                       fmt::format("{}, one of each example", round.examples));
  }
  of_rounds.conclude();
  if (ledger.unit() == Unit::kLocal && expected.may_have_any_releases())
    verification.notes.emplace_back(
        "has a model that this program does not bring along, so that the tensors of a message are not "
        "counted");
  if (summary.privacy && !summary.privacy->budget.is_list() && summary.state == kFinished)
    Comparison(verification, run.file(kSummaryFile)).same("spent_clients", summary.privacy->spent_clients, 0);
  if (budgets && summary.state == kFinished) {
    Comparison(verification, run.file(kSummaryFile))
        .same("spent_clients", summary.privacy->spent_clients,
              summary.privacy->stopped.empty() ? budgets->spent() : clients - std::ssize(held_out));
  }
  if (ledger.unit() == Unit::kRecord && expected.is_repeatable() && !expected.has_empty_places())
    compare_draws(draws, rounds, Comparison(verification, run.file(kRoundsFile)));
  return verification;
}

}  // namespace fedarena::results
