#include "results/audit/worst_case.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace fedarena::results {
namespace {

bool is_noised(const Access& access) {
  return std::holds_alternative<SampledGaussian>(access.event) ||
         std::holds_alternative<Gaussian>(access.event);
}

// True when something was missing.
bool fill_up(std::vector<Access>& round, std::int64_t most) {
  std::int64_t made = 0;
  Access* most_often = nullptr;
  for (Access& access : round) {
    if (!is_noised(access)) continue;
    made += access.count;
    if (most_often == nullptr || access.count > most_often->count) most_often = &access;
  }
  if (most_often == nullptr || made >= most) return false;
  most_often->count += most - made;
  return true;
}

}  // namespace

std::optional<Ledger> worst_case(const Ledger& ledger, std::int64_t most) {
  if (ledger.unit() != Unit::kRecord) return std::nullopt;
  Ledger filled(ledger.unit());
  bool missing = false;
  for (const auto& [client, record] : ledger.clients()) {
    filled.add_client(client, record.examples);
    for (const Ledger::Segment& segment : record.segments) {
      std::vector<Access> round = segment.accesses;
      missing |= fill_up(round, most);
      const RoundAccesses accesses(std::move(round));
      // Which of the segment's rounds a client sat out makes no difference to what it is charged.
      for (std::int64_t i = 0; i < segment.participations; ++i) {
        filled.record(segment.first_round + i, client, accesses);
      }
    }
  }
  return missing ? std::optional(filled) : std::nullopt;
}

}  // namespace fedarena::results
