#include "partitions/proportions.hpp"

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"
#include "fedarena/base/schema.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kFirstDraws = 20;
constexpr std::int64_t kManyClients = 50;

}  // namespace

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

void Draws::fail(std::int64_t short_clients) {
  fewest_short_ = made_ == 0 ? short_clients : std::min(fewest_short_, short_clients);
  ++made_;
}

bool Draws::hopeless() const { return made_ >= kFirstDraws && fewest_short_ >= kManyClients; }

void Draws::refuse(std::int64_t clients, std::int64_t least, double alpha, const std::string& setting) const {
  std::string found =
      fmt::format("no draw of {} left every one of {} clients at least {} examples, at alpha = {}", made_,
                  clients, least, to_text(alpha));
  if (hopeless()) found += fmt::format("; each left {} or more with fewer", fewest_short_);
  throw Error(
      Complaint{.found = found, .remedy = fmt::format("raise alpha, or lower clients or {}", setting)});
}

}  // namespace fedarena
