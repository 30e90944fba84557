#include "partitions/proportions.hpp"

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena {

std::vector<std::int64_t> cut_by(const std::vector<double>& proportions, std::int64_t examples) {
  std::vector<std::int64_t> ends(proportions.size(), examples);
  double sum = 0;
  for (std::size_t client = 0; client + 1 < proportions.size(); ++client) {
    sum += proportions[client];
    // The sum may pass 1 by a rounding error.
    ends[client] =
        std::min(examples, static_cast<std::int64_t>(std::floor(sum * static_cast<double>(examples))));
  }
  return ends;
}

void check_least_examples(std::int64_t clients, std::int64_t least, std::int64_t examples) {
  if (clients * least <= examples) return;
  throw Error(
      Complaint{.found = fmt::format("{} clients with min_examples = {} need {} examples and the data has {}",
                                     clients, least, clients * least, examples),
                .remedy = "lower clients or min_examples"});
}

void refuse_draws(std::uint64_t attempts, std::int64_t clients, std::int64_t least, double alpha,
                  const std::string& setting) {
  throw Error(Complaint{
      .found = fmt::format("no draw of {} left every one of {} clients at least {} examples, at alpha = {}",
                           attempts, clients, least, to_text(alpha)),
      .remedy = fmt::format("raise alpha, or lower clients or {}", setting)});
}

}  // namespace fedarena
