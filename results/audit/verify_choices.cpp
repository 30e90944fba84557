#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/audit/verify_parts.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// What ifca observes of the choices of a round: how many clients took each hypothesis.
void compare_counts(const RoundRecord& round, Kinds& kinds) {
  constexpr std::string_view kCount = "hypothesis-";
  std::map<std::string, double> taken;
  for (const auto& [client, model] : round.choices) ++taken[fmt::format("{}{}", kCount, model)];
  for (const auto& [name, count] : round.observed) {
    if (name.starts_with(kCount))
      kinds.result(count == taken[name], name, fmt::format(" of round {}", round.round), exact_number(count),
                   exact_number(taken[name]));
  }
}

}  // namespace

void verify_choices(const AuditedRun& run, Verification& verification) {
  if (!run.ledger) return;  // nobody has taken part yet
  const auto clients = std::ssize(run.ledger->clients());
  const std::optional<std::int64_t> models = run.expected.models();
  Kinds kinds(Comparison(verification, run.file(kRoundsFile)));
  for (const RoundRecord& round : run.rounds()) {
    if (round.choices.empty()) continue;
    const std::string whose = fmt::format(" of round {}", round.round);
    kinds.result(std::ssize(round.choices) == round.clients, "choices", whose,
                 std::to_string(round.choices.size()), fmt::format("{}, as clients", round.clients));
    const std::vector<std::int64_t> cohort = run.expected.cohort(round.round, clients);
    for (const auto& [client, model] : round.choices) {
      kinds.result(std::ranges::binary_search(cohort, client), "choices", whose,
                   fmt::format("of client {}", client), "of clients that took part");
      if (models)
        kinds.result(model < *models, "choices", whose, fmt::format("model {}", model),
                     fmt::format("below {}", *models));
    }
    if (models) compare_counts(round, kinds);
  }
  kinds.conclude();
}

}  // namespace fedarena::results
