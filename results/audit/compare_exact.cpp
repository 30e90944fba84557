// The accesses outside of every mechanism that an experiment cannot do without. A ledger that lacks one
// claims an epsilon that is not true.
#include <algorithm>

#include <fmt/format.h>

#include "results/audit/compare_accesses.hpp"

namespace fedarena::results {
namespace {

bool holds(const std::vector<Access>& accesses, const Event& event) {
  return std::ranges::any_of(accesses, [&](const Access& access) { return access.event == event; });
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

}  // namespace fedarena::results
