// What an experiment cannot do without: accesses outside of every mechanism, and as many noised answers as
// the making of synthetic examples takes, by the settings or as a budget pays for. A ledger that lacks any
// claims an epsilon that is not true.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "results/audit/compare_accesses.hpp"

namespace fedarena::results {
namespace {

bool holds(const std::vector<Access>& accesses, const Event& event) {
  return std::ranges::any_of(accesses, [&](const Access& access) { return access.event == event; });
}

// Noised answers in a round. `of_all`: they look at all examples, and samples, which cost less, do not count.
std::int64_t answers_in(const std::vector<Access>& round, bool of_all) {
  std::int64_t count = 0;
  for (const Access& access : round) {
    const auto* sampled = std::get_if<SampledGaussian>(&access.event);
    const bool counts =
        sampled == nullptr ? std::holds_alternative<Gaussian>(access.event) : !of_all || sampled->rate == 1;
    if (counts) count += access.count;
  }
  return count;
}

// Whether a budget pays for another answer in the last round of the segments up to this one.
bool pays_for_another(const std::vector<Ledger::Segment>& segments, std::size_t last, const Event& answer,
                      double budget, const Odometer& odometer) {
  std::vector<Access> charged =
      Ledger::charged_of({segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(last) + 1});
  charged.push_back({answer, 1});
  const std::optional<double> epsilon = odometer.epsilon(charged).epsilon;
  return epsilon && *epsilon <= budget;  // unproven is too much
}

}  // namespace

void compare_exact_accesses(std::int64_t client, const Ledger::ClientRecord& record, std::int64_t ended_after,
                            const ExpectedLedger& expected, Kinds& kinds) {
  bool first = true;
  for (const Ledger::Segment& segment : record.segments) {
    if (ended_after > 0 && segment.first_round > ended_after) return;  // never made
    for (const Event& due : expected.exact_accesses(record.examples, first))
      kinds.result(holds(segment.accesses, due), describe(due), client_text(client), "missing",
                   fmt::format("in rounds {} to {}", segment.first_round, segment.last_round));
    first = false;
  }
}

void compare_reading(const Ledger& ledger, const ExpectedLedger& expected, Kinds& kinds) {
  if (!expected.reads_each_message()) return;
  const Event due = ExactAccess{"messages"};
  for (const Ledger::Segment& segment : ledger.population()) {
    if (ledger.ended_after() > 0 && segment.first_round > ledger.ended_after()) return;
    kinds.result(holds(segment.accesses, due), describe(due), "", "missing",
                 fmt::format("in rounds {} to {}", segment.first_round, segment.last_round));
  }
}

void compare_label_counts(const Ledger& ledger, const ExpectedLedger& expected, Kinds& kinds) {
  const std::optional<Event> due = expected.label_counts_of_tests();
  if (!due) return;
  kinds.result(holds(Ledger::accesses_of(ledger.population()), *due), describe(*due), " of all clients",
               "missing", "by the tests of clients");
}

void compare_generation(std::int64_t client, const Ledger::ClientRecord& record, std::int64_t ended_after,
                        const ExpectedLedger& expected, const Odometer& odometer, Kinds& kinds) {
  const auto due = expected.generation(client, record.examples);
  if (!due || record.examples == 0) return;
  const double budget = expected.budget(client);
  const bool of_all = due->steps == 0 && std::holds_alternative<Gaussian>(due->answer);
  const std::vector<Ledger::Segment>& segments = record.segments;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Ledger::Segment& segment = segments[i];
    // What data left out is charged as the dearest round.
    if (ended_after > 0 && segment.first_round > ended_after) return;
    const std::int64_t count = answers_in(segment.round().charged(), of_all) - due->steps;
    const std::int64_t most = i == 0 ? due->answers : 0;  // examples are made once
    // A segment of several rounds had its answers in each, which no budget explains unless there are none.
    const bool one_round = segment.participations <= 1 || count == 0;
    const bool all_paid = budget > 0 && 0 <= count && count < most && one_round &&
                          !pays_for_another(segments, i, due->answer, budget, odometer);
    // An attempt that a crash lost is charged beside the next one.
    const bool fits = count == most || all_paid || (count > most && !expected.is_repeatable());
    kinds.result(
        fits, "answers for synthetic examples", client_text(client), count,
        budget > 0 ? fmt::format("{}, or as many as the budget pays for", most) : std::to_string(most));
  }
}

}  // namespace fedarena::results
