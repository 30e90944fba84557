#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "fedarena/accounting/odometer.hpp"

#include "results/audit/audited_run.hpp"
#include "results/audit/comparison.hpp"
#include "results/audit/compute_claim.hpp"
#include "results/audit/expected_ledger.hpp"
#include "results/audit/ledger_findings.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

using Segments = std::vector<Ledger::Segment>;

std::int64_t last_round(const Ledger& ledger) {
  std::int64_t last = 0;
  // A round that was lost may be the one for whose next attempt no budget paid.
  const auto look_at = [&](const Segments& segments) {
    const auto made = std::ranges::find_if(segments.rbegin(), segments.rend(),
                                           [](const auto& segment) { return segment.participations > 0; });
    if (made != segments.rend()) last = std::max(last, made->last_round);
  };
  for (const auto& [client, record] : ledger.clients()) look_at(record.segments);
  look_at(ledger.population());
  return last;
}

// How many clients took part in each round, as far as segments tell: for certain, and at most.
struct Presence {
  std::vector<std::int64_t> least, most;

  Presence(const Ledger& ledger, std::size_t rounds) : least(rounds + 2, 0), most(rounds + 2, 0) {
    for (const auto& [client, record] : ledger.clients()) {
      for (const Ledger::Segment& segment : record.segments) {
        if (segment.participations == 0) continue;  // of an attempt that was lost
        const std::int64_t length = segment.last_round - segment.first_round + 1;
        add(most, segment.first_round, segment.last_round);
        if (segment.participations == length) {
          add(least, segment.first_round, segment.last_round);
        } else {
          add(least, segment.first_round, segment.first_round);
          add(least, segment.last_round, segment.last_round);
        }
      }
    }
    for (std::vector<std::int64_t>* steps : {&least, &most}) {
      for (std::size_t i = 1; i < steps->size(); ++i) (*steps)[i] += (*steps)[i - 1];
    }
  }

 private:
  static void add(std::vector<std::int64_t>& steps, std::int64_t first, std::int64_t last) {
    const auto size = static_cast<std::int64_t>(steps.size());
    if (first < size) ++steps[static_cast<std::size_t>(first)];
    if (last + 1 < size) --steps[static_cast<std::size_t>(last + 1)];
  }
};

std::int64_t participations(const Ledger& ledger) {
  std::int64_t total = 0;
  for (const auto& [client, record] : ledger.clients()) total += Ledger::participations_of(record.segments);
  return total;
}

bool has_lost_rounds(const Ledger& ledger) {
  const auto any_in = [](const Segments& segments) {
    return std::ranges::any_of(
        segments, [](const auto& segment) { return segment.participations == 0 || segment.attempts > 1; });
  };
  return any_in(ledger.population()) || any_in(ledger.as_if()) ||
         std::ranges::any_of(ledger.clients(),
                             [&](const auto& entry) { return any_in(entry.second.segments); });
}

std::string range(std::int64_t least, std::int64_t most) {
  return least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
}

// Not of the rounds that are charged although they were left out; and of those that were recorded where the
// ledger on disk is ahead of an unfinished run. `secret_cohorts`: an attempt at a round that a crash lost may
// have had other clients, whom the ledger lists beside those of the round.
void verify_participation(const Ledger& ledger, const Summary& summary, std::span<const RoundRecord> rounds,
                          bool secret_cohorts, Comparison& compare) {
  const auto done = static_cast<std::int64_t>(rounds.size());
  const Ledger made = ledger.made();
  const Ledger::Past past = summary.state == kFinished ? Ledger::Past{made, made} : made.after_round(done);
  std::int64_t cohorts = 0;
  for (const RoundRecord& round : rounds) cohorts += round.clients;
  compare.text("unit", std::string(name(ledger.unit())), summary.policy);
  compare.same("clients", std::ssize(made.clients()), summary.clients);
  const std::int64_t fewest = secret_cohorts ? 0 : participations(past.fewest);
  const std::int64_t most_often = participations(past.most);
  compare.result(fewest <= cohorts && cohorts <= most_often, "participations of all clients",
                 range(fewest, most_often), cohorts);
  const std::int64_t last = last_round(past.most);
  compare.result(last <= done, "last round", last, fmt::format("at most {}", done));
  if (made.unit() == Unit::kClient) {
    compare.same("rounds of the population", Ledger::participations_of(past.most.population()), done);
  }
  // Of the whole ledger: in one that is cut, segments no longer end where their client took part.
  const Presence presence(made, rounds.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::int64_t least = secret_cohorts ? 0 : presence.least[i + 1];
    const std::int64_t most = presence.most[i + 1];
    const std::int64_t clients = rounds[i].clients;
    // What the ledger holds must fit the cohort that the round recorded.
    compare.result(least <= clients && clients <= most, fmt::format("clients in round {}", i + 1),
                   range(least, most), clients);
  }
}

void verify_rounds(const Ledger& ledger, const Summary& summary, std::span<const RoundRecord> rounds,
                   Comparison& compare) {
  if (!summary.privacy) {
    for (const RoundRecord& round : rounds) {
      compare.close(fmt::format("round {} epsilon", round.round), round.epsilon, std::nullopt);
    }
    return;
  }
  const Odometer odometer(summary.privacy->settings);
  double before = 0;  // of the last round that has one: none falls below it
  for (const RoundRecord& round : rounds) {
    const std::string field = fmt::format("round {} epsilon", round.round);
    const auto [fewest, most] = ledger.after_round(round.round);
    const std::optional<double> low = odometer.epsilon(fewest).epsilon;
    const std::optional<double> high = fewest == most ? low : odometer.epsilon(most).epsilon;
    if (low == high || !low || !high || !round.epsilon) {
      compare.close(field, round.epsilon, high);
    } else {
      const double slack = 1e-9 * *high, least = std::max(*low, before);
      compare.result(*round.epsilon >= least - slack && *round.epsilon <= *high + slack, field,
                     *round.epsilon, fmt::format("{} to {}", exact_number(least), exact_number(*high)));
    }
    before = round.epsilon.value_or(before);
  }
}

void verify_claim(const Ledger& ledger, const Summary& summary, Comparison& compare) {
  Summary again = summary;
  compute_claim(again, ledger);
  const PrivacyClaim &recorded = *summary.privacy, &claim = *again.privacy;
  compare.fields(to_json(summary), to_json(again), false);
  double budget = recorded.budget.most();
  if (budget > 0 && ledger.varies()) budget = epsilon_of_filter(budget, recorded.settings);
  if (budget > 0 && claim.rdp && claim.rdp->epsilon) {
    compare.result(*claim.rdp->epsilon <= budget || ended_in_exact_access(ledger), "budget", budget,
                   fmt::format("at least the epsilon {}", exact_number(*claim.rdp->epsilon)));
  }
}

}  // namespace

void verify_privacy(const AuditedRun& run, Verification& verification) {
  if (!run.ledger) {
    verification.notes.emplace_back("has no ledger yet, so that no epsilon is checked");
    return;
  }
  const Ledger& ledger = *run.ledger;
  const Summary& summary = run.summary;
  Comparison compare_ledger(verification, run.file(kLedgerFile));
  verify_participation(ledger, summary, run.rounds(), run.expected.has_secret_cohorts(), compare_ledger);
  if (run.expected.is_repeatable() && has_lost_rounds(ledger) && !ended_in_exact_access(ledger))
    compare_ledger.result(false, "rounds that a crash lost", "some",
                          "none, because noise of random streams comes again");
  if (name(ledger.unit()) != summary.policy) return;  // which is a difference; nothing else can be compared
  Comparison compare_rounds(verification, run.file(kRoundsFile));
  verify_rounds(ledger, summary, run.rounds(), compare_rounds);
  if (!summary.privacy) {
    verification.notes.emplace_back("policy none, which claims no epsilon, and none is recorded");
  } else if (run.finished()) {
    Comparison compare_summary(verification, run.file(kSummaryFile));
    verify_claim(ledger, summary, compare_summary);
  }
}

}  // namespace fedarena::results
