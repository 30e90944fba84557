// Yurochkin et al. 2019 and Hsu, Qi, Brown 2019 made "Dirichlet(alpha)" partitions common, and code bases
// disagree on what it means. This is one variant of several, "uncapped, per class over clients": each class
// draws its own proportions p ~ Dirichlet(alpha, ..., alpha) over clients, and client k gets the share p_k of
// that class.
//
// Differs from the capped variant (Li et al. 2022, NIID-Bench): a client that is already full is not set to
// zero. Differs from Hsu, Qi, Brown: they draw a mixture of classes for each client, all clients being of one
// size.

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

constexpr std::uint64_t kAttempts = 1000;

struct DirichletSettings : Dealing {
  double alpha = 0.5;
  std::int64_t min_examples = 10;

  static const Schema<DirichletSettings>& schema() {
    static const Schema<DirichletSettings> kSchema = Schema<DirichletSettings>{
        {"alpha", &DirichletSettings::alpha,
         "The concentration: small values give each class to few clients, large ones approach equal shares.",
         Constraint::positive()},
        {"min_examples", &DirichletSettings::min_examples,
         "The least number of examples of a client; proportions are drawn again until every client has it.",
         Constraint::between(1, 1e9)}}.extends(Dealing::schema());
    return kSchema;
  }
};

// Where each client's share of one class ends; the last client takes what rounding leaves.
std::vector<std::int64_t> draw_ends(Stream& stream, double alpha, std::size_t clients,
                                    std::int64_t examples) {
  const std::vector<double> proportions = stream.dirichlet(alpha, clients);
  std::vector<std::int64_t> ends(clients, examples);
  double sum = 0;
  for (std::size_t client = 0; client + 1 < clients; ++client) {
    sum += proportions[client];
    // The sum may pass 1 by a rounding error.
    ends[client] =
        std::min(examples, static_cast<std::int64_t>(std::floor(sum * static_cast<double>(examples))));
  }
  return ends;
}

std::int64_t smallest_client(const std::vector<std::vector<std::int64_t>>& ends_by_class,
                             std::size_t clients) {
  std::vector<std::int64_t> sizes(clients);
  for (const std::vector<std::int64_t>& ends : ends_by_class) {
    for (std::size_t client = 0; client < clients; ++client) {
      sizes[client] += ends[client] - (client == 0 ? 0 : ends[client - 1]);
    }
  }
  return *std::min_element(sizes.begin(), sizes.end());
}

void check_possible(const DirichletSettings& settings, std::int64_t examples) {
  if (settings.clients * settings.min_examples <= examples) return;
  throw Error(
      Complaint{.found = fmt::format("{} clients with min_examples = {} need {} examples and the data has {}",
                                     settings.clients, settings.min_examples,
                                     settings.clients * settings.min_examples, examples),
                .remedy = "lower clients or min_examples"});
}

// The ends of every client's share by class, drawn until each client has enough.
std::vector<std::vector<std::int64_t>> draw_shares(const DirichletSettings& settings,
                                                   const std::vector<std::vector<std::int64_t>>& members,
                                                   std::uint64_t seed) {
  const auto clients = static_cast<std::size_t>(settings.clients);
  const std::uint64_t classes = members.size();
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<std::vector<std::int64_t>> ends_by_class;
    for (std::uint64_t label = 0; label < classes; ++label) {
      // Streams 0 to classes - 1 shuffle, so the order of examples depends neither on alpha nor on the
      // attempt.
      Stream stream = partition_stream(seed, (attempt + 1) * classes + label);
      const auto examples = static_cast<std::int64_t>(members[label].size());
      ends_by_class.push_back(draw_ends(stream, settings.alpha, clients, examples));
    }
    if (smallest_client(ends_by_class, clients) >= settings.min_examples) return ends_by_class;
  }
  throw Error(Complaint{
      .found = fmt::format("no draw of {} left every one of {} clients at least {} examples, at alpha = {}",
                           kAttempts, settings.clients, settings.min_examples, to_text(settings.alpha)),
      .remedy = "raise alpha, or lower clients or min_examples"});
}

Partition deal(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const DirichletSettings settings = DirichletSettings::schema().read(given);
  const auto members = indices_by_class("dirichlet", input);
  check_possible(settings, input.examples);
  const auto ends_by_class = draw_shares(settings, members, seed);
  Partition partition(static_cast<std::size_t>(settings.clients));
  for (std::size_t label = 0; label < members.size(); ++label) {
    const auto size = static_cast<std::int64_t>(members[label].size());
    const std::vector<std::int64_t> order = partition_stream(seed, label).permutation(size);
    std::int64_t position = 0;
    for (std::size_t client = 0; client < partition.size(); ++client) {
      for (; position < ends_by_class[label][client]; ++position) {
        const std::int64_t member = order[static_cast<std::size_t>(position)];
        partition[client].push_back(members[label][static_cast<std::size_t>(member)]);
      }
    }
  }
  for (auto& share : partition) std::sort(share.begin(), share.end());
  return partition;
}

}  // namespace

PartitionKind dirichlet_kind() {
  return {"dirichlet",
          "Splits each class over the clients by proportions of its own, drawn from Dirichlet(alpha), "
          "without a cap on "
          "a client's size.",
          DirichletSettings::schema().fields(), deal};
}

}  // namespace fedarena
