#include "partitions/class_shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kFirstDraws = 20;
constexpr std::int64_t kManyClients = 50;

using Members = std::vector<std::vector<std::int64_t>>;
// [class][client]: where the client's share of the class ends.
using Ends = std::vector<std::vector<std::int64_t>>;

bool takes_part(Cap cap, std::int64_t held, std::int64_t clients, std::int64_t examples) {
  if (cap == Cap::kBelowMean) return held * clients < examples;
  if (cap == Cap::kUpToMean) return held * clients <= examples;
  return true;
}

// Sets the proportions of full clients to zero. False when nothing is left.
bool apply_cap(std::vector<double>& proportions, Cap cap, const std::vector<std::int64_t>& held,
               std::int64_t examples) {
  if (cap == Cap::kNone) return true;
  const auto clients = std::ssize(proportions);
  for (std::size_t client = 0; client < proportions.size(); ++client) {
    if (!takes_part(cap, held[client], clients, examples)) proportions[client] = 0;
  }
  const double sum = std::accumulate(proportions.begin(), proportions.end(), 0.0);
  if (!(sum > 0)) return false;
  for (double& proportion : proportions) proportion /= sum;
  return true;
}

struct Attempt {
  Ends ends;
  std::int64_t short_clients = 0;  // that have too few examples; 1 where a class met only full clients
};

Attempt draw(const ClassSplit& split, const Members& members, std::int64_t total, std::uint64_t attempt,
             std::uint64_t seed) {
  const std::uint64_t classes = members.size();
  Ends ends(classes);
  std::vector<std::int64_t> held(static_cast<std::size_t>(split.clients));
  for (const std::int64_t label : split.order) {
    const auto at = static_cast<std::size_t>(label);
    const std::int64_t examples = std::ssize(members[at]);
    // Streams 0 to classes - 1 shuffle, so the order of examples depends neither on alpha nor on the
    // attempt.
    Stream stream = partition_stream(seed, (attempt + 1) * classes + at);
    std::vector<double> proportions = stream.dirichlet(split.alpha, held.size());
    if (!apply_cap(proportions, split.cap, held, total) && examples > 0)
      return {.ends = {}, .short_clients = 1};
    ends[at] = cut_by(proportions, examples);
    for (std::size_t client = 0; client < held.size(); ++client) {
      held[client] += ends[at][client] - (client == 0 ? 0 : ends[at][client - 1]);
    }
  }
  const auto too_few = [&](std::int64_t examples) { return examples < split.min_examples; };
  return {.ends = std::move(ends), .short_clients = std::ranges::count_if(held, too_few)};
}

Ends draw_shares(const ClassSplit& split, const Members& members, std::int64_t total, std::uint64_t seed) {
  Draws draws(split.attempts);
  while (draws.go_on()) {
    Attempt attempt = draw(split, members, total, draws.made(), seed);
    if (attempt.short_clients == 0) return std::move(attempt.ends);
    draws.fail(attempt.short_clients);
  }
  draws.refuse(split.clients, split.min_examples, split.alpha, split.least_from);
}

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
  reject_request(fmt::format("{} clients with min_examples = {} need {} examples and the data has {}",
                             clients, least, clients * least, examples),
                 "lower clients or min_examples");
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
  reject_request(found, fmt::format("raise alpha, or lower clients or {}", setting));
}

Schema<ConcentrationSettings> ConcentrationSettings::schema(const std::string& alpha_doc,
                                                            const std::string& least_doc) {
  return Schema<ConcentrationSettings>{
      {"alpha", &ConcentrationSettings::alpha, alpha_doc, Constraint::positive()},
      {"min_examples", &ConcentrationSettings::min_examples, least_doc, Constraint::between(1, 1e9)}}
      .extends<Dealing>();
}

Partition split_classes(ClassSplit split, const Members& members, std::uint64_t seed) {
  std::int64_t total = 0;
  for (const auto& member : members) total += std::ssize(member);
  check_least_examples(split.clients, split.min_examples, total);
  if (split.order.empty()) {
    split.order.resize(members.size());
    std::iota(split.order.begin(), split.order.end(), 0);
  }
  const Ends ends = draw_shares(split, members, total, seed);
  Partition partition(static_cast<std::size_t>(split.clients));
  for (const std::int64_t label : split.order) {
    const auto at = static_cast<std::size_t>(label);
    const std::vector<std::int64_t> whole =
        split.shuffled ? shuffled(members[at], partition_stream(seed, at)) : members[at];
    auto begin = whole.begin();
    for (std::size_t client = 0; client < partition.size(); ++client) {
      const auto end = whole.begin() + ends[at][client];
      partition[client].insert(partition[client].end(), begin, end);
      begin = end;
    }
  }
  return partition;
}

}  // namespace fedarena
