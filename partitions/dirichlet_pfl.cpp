// Granqvist et al., "pfl-research: simulation framework for accelerating research in Private Federated
// Learning" (NeurIPS 2024), in the form of its code, partition_by_dirichlet_class_distribution, which follows
// Reddi et al. 2021 and Wang et al. 2020: per client over classes. Client after client, proportions p ~
// Dirichlet(alpha, ..., alpha) over the classes that have examples; then one example after the other: a class
// is drawn from p, and its last example that is left goes to the client, if there is one. After every 20 *
// length draws for a client of that length, p becomes (p + 0.02) / (1 + 0.02 * classes), so that clients find
// classes that are not used up.
//
// Differs from pfl-research: it makes clients until the examples run out, of lengths that a function draws;
// this makes as many as are asked for, of one length, 0 meaning an equal share, rounded down. What is left is
// dropped in both. Where the published code sets the last proportion to 1 after it evened them out, this sets
// the end of their cumulative sum, as the line was surely meant.

#include <algorithm>
#include <numeric>

#include "fedarena/base/error.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kDrawsBeforeSpread = 20;  // per example of the client
constexpr double kSpread = 0.02;

struct PflSettings : Dealing {
  double alpha = 0.1;
  std::int64_t examples_per_client = 0;

  static Schema<PflSettings> schema() {
    return Schema<PflSettings>{
        {"alpha", &PflSettings::alpha,
         "The concentration: small values give a client few classes, large ones equal parts of all.",
         Constraint::positive()},
        {"examples_per_client", &PflSettings::examples_per_client,
         "How many examples every client has; 0: an equal share, rounded down.", Constraint::between(0, 1e9)}}
        .extends<Dealing>();
  }
};

// A client's proportions of classes, to draw from.
class Mixture {
 public:
  explicit Mixture(std::vector<double> proportions) : proportions_(std::move(proportions)) { sum_up(); }

  std::size_t draw(Stream& stream) const {
    return static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end(), stream.uniform()) -
                                    sums_.begin());
  }
  void even_out() {
    double sum = 0;
    for (double& proportion : proportions_) {
      proportion += kSpread;
      sum += proportion;
    }
    for (double& proportion : proportions_) proportion /= sum;
    sum_up();
  }

 private:
  void sum_up() {
    sums_.resize(proportions_.size());
    std::partial_sum(proportions_.begin(), proportions_.end(), sums_.begin());
    sums_.back() = 1;  // whatever rounding made of it; uniform() is less
  }

  std::vector<double> proportions_, sums_;
};

std::int64_t checked_length(const PflSettings& settings, std::int64_t examples) {
  if (settings.examples_per_client == 0) return examples / settings.clients;
  const std::int64_t needed = settings.clients * settings.examples_per_client;
  if (needed <= examples) return settings.examples_per_client;
  reject_request(fmt::format("{} clients with examples_per_client = {} need {} examples and the data has {}",
                             settings.clients, settings.examples_per_client, needed, examples),
                 "lower clients or examples_per_client");
}

struct PflDealt {
  Partition partition;
  std::int64_t evened_out = 0;  // clients whose mixture was, once or more
};

PflDealt deal_pfl(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const PflSettings settings = PflSettings::schema().read(given);
  auto left = indices_by_class("dirichlet-pfl", input);
  std::erase_if(left, [](const auto& members) { return members.empty(); });
  const std::int64_t length = checked_length(settings, input.examples);
  PflDealt dealt{.partition = Partition(static_cast<std::size_t>(settings.clients))};
  for (std::size_t client = 0; client < dealt.partition.size(); ++client) {
    Stream stream = partition_stream(seed, client);
    Mixture mixture(stream.dirichlet(settings.alpha, left.size()));
    std::vector<std::int64_t>& share = dealt.partition[client];
    std::int64_t draws = 0;
    while (std::ssize(share) < length) {
      std::vector<std::int64_t>& drawn = left[mixture.draw(stream)];
      if (!drawn.empty()) {
        share.push_back(drawn.back());
        drawn.pop_back();
      }
      if (++draws % (kDrawsBeforeSpread * length) == 0) mixture.even_out();
    }
    if (draws > kDrawsBeforeSpread * length) ++dealt.evened_out;
  }
  return dealt;
}

Partition deal_dirichlet_pfl(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  return deal_pfl(given, input, seed).partition;
}

std::string note_dirichlet_pfl(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const PflDealt dealt = deal_pfl(given, input, seed);
  if (dealt.evened_out == 0) return {};
  return fmt::format(
      "{} of {} clients found too few examples of their classes, so that their mixtures were evened out",
      dealt.evened_out, dealt.partition.size());
}

}  // namespace

PartitionKind dirichlet_pfl_kind() {
  return {
      "dirichlet-pfl",
      "As pfl-research: clients of one size, each with its own mixture of classes from Dirichlet(alpha), one "
      "after the other until their classes are used up.",
      PflSettings::schema().fields(), deal_dirichlet_pfl, note_dirichlet_pfl};
}

}  // namespace fedarena
