#include "results/audit/exact_findings.hpp"

namespace fedarena::results {
namespace {

void find_exact(const std::vector<Ledger::Segment>& segments, std::optional<std::int64_t> client,
                std::vector<ExactFinding>& found) {
  for (const Ledger::Segment& segment : segments) {
    for (const Access& access : segment.accesses) {
      if (!is_exact(access.event)) continue;
      const auto* exact = std::get_if<ExactAccess>(&access.event);
      found.push_back({.client = client,
                       .first_round = segment.first_round,
                       .last_round = segment.last_round,
                       .access = exact != nullptr ? exact->what : describe(access.event),
                       .count = access.count * segment.participations});
    }
  }
}

}  // namespace

std::vector<ExactFinding> exact_findings(const Ledger& ledger) {
  std::vector<ExactFinding> found;
  if (ledger.unit() == Unit::kNothing) return found;
  find_exact(ledger.population(), std::nullopt, found);
  if (ledger.unit() != Unit::kRecord) return found;
  for (const auto& [client, record] : ledger.clients()) find_exact(record.segments, client, found);
  return found;
}

}  // namespace fedarena::results
