#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/audit/comparison.hpp"
#include "results/audit/verify_parts.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// What ifca observes of the choices of a round: how many clients took each hypothesis.
void compare_counts(const RoundRecord& round, std::int64_t models, Kinds& kinds) {
  std::map<std::string, double> taken;
  for (const auto& [client, model] : round.choices) ++taken[fmt::format("hypothesis-{}", model)];
  for (std::int64_t model = 0; model < models; ++model) {
    const std::string name = fmt::format("hypothesis-{}", model);
    for (const auto& [observed, count] : round.observed) {
      if (observed != name) continue;
      kinds.result(count == taken[name], name, fmt::format(" of round {}", round.round), exact_number(count),
                   exact_number(taken[name]));
    }
  }
}

}  // namespace

void verify_choices(const AuditedRun& run, Verification& verification) {
  const std::optional<std::int64_t> models = run.expected.models();
  Kinds kinds(Comparison(verification, run.file(kRoundsFile)));
  for (const RoundRecord& round : run.rounds()) {
    if (round.choices.empty()) continue;
    const std::string whose = fmt::format(" of round {}", round.round);
    kinds.result(std::ssize(round.choices) == round.clients, "choices", whose,
                 std::to_string(round.choices.size()), fmt::format("{}, as clients", round.clients));
    const std::vector<std::int64_t> cohort = run.expected.cohort(round.round, run.summary.clients);
    for (const auto& [client, model] : round.choices) {
      kinds.result(std::ranges::binary_search(cohort, client), "choices", whose,
                   fmt::format("of client {}", client), "of clients that took part");
      if (models)
        kinds.result(model < *models, "choices", whose, fmt::format("model {}", model),
                     fmt::format("below {}", *models));
    }
    compare_counts(round, models.value_or(0), kinds);
  }
  kinds.conclude();
}

}  // namespace fedarena::results
