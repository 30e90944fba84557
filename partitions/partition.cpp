#include "partitions/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

const std::vector<PartitionKind>& kinds() {
  static const std::vector<PartitionKind> kTable = {
      iid_kind(),
      quantity_kind(),
      classes_kind(),
      shared_classes_kind(),
      shards_kind(),
      dirichlet_kind(),
      dirichlet_niid_bench_kind(),
      dirichlet_flower_kind(),
      dirichlet_pfllib_kind(),
      dirichlet_pfl_kind(),
      by_user_kind(),
  };
  return kTable;
}

const PartitionKind& find_kind(const std::string& name) {
  if (const PartitionKind* kind = find_named(kinds(), name, &PartitionKind::name)) return *kind;
  throw unknown_name(fmt::format("unknown partition \"{}\"", name), name, partition_names());
}

void check_input(const PartitionInput& input) {
  FEDARENA_CHECK(input.examples, >=, 0);
  if (!input.users.empty()) {
    FEDARENA_CHECK(static_cast<std::int64_t>(input.users.size()), ==, input.examples);
    FEDARENA_CHECK(*std::min_element(input.users.begin(), input.users.end()), >=, 0);
  }
  if (input.labels.empty()) return;
  FEDARENA_CHECK(static_cast<std::int64_t>(input.labels.size()), ==, input.examples);
  for (const std::int64_t label : input.labels) {
    FEDARENA_CHECK(label, >=, 0);
    FEDARENA_CHECK(label, <, input.classes);
  }
}

// Every kind promises that no client is empty.
void check_enough_examples(const Dealing& settings, const PartitionInput& input) {
  if (settings.clients <= input.examples) return;
  reject_request(fmt::format("clients is {} and the data has {} training examples, which cannot give "
                             "every client one",
                             settings.clients, input.examples),
                 "ask for fewer clients or use more examples");
}

Schema<Dealing> dealing_schema(const std::string& clients_doc, const Constraint& clients) {
  return {
      {"clients", &Dealing::clients, clients_doc, clients},
      {"train_fraction", &Dealing::train_fraction,
       "The share of its examples that each client keeps after the dealing, at least one, drawn uniformly at "
       "random whatever their classes; of one seed, smaller shares lie within larger ones.",
       Constraint::between(1e-6, 1)},
      {"noise", &Dealing::noise,
       "The standard deviation of the Gaussian noise on the last client's inputs: of images scaled to "
       "[0, 1], of other inputs as models see them; client i of n, from 0, has i / (n - 1) of it, and an "
       "example the same noise at every reading.",
       Constraint::between(0, 1000)},
      {"rotations", &Dealing::rotations,
       "Degrees, multiples of 90, by which clients see their square images turned counter-clockwise: "
       "client i by entry i modulo the length; empty: none.",
       Constraint::between(0, 270)}};
}

// Beyond the streams of every kind.
constexpr std::uint64_t kShares = std::uint64_t{1} << 63;

// In one pass over the examples: sorting share by share takes longer than most kinds of dealing.
void sort_shares(Partition& partition, std::int64_t examples) {
  constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> owners(static_cast<std::size_t>(examples), kNobody);
  for (std::size_t client = 0; client < partition.size(); ++client) {
    for (const std::int64_t index : partition[client]) owners[static_cast<std::size_t>(index)] = client;
    partition[client].clear();
  }
  for (std::size_t index = 0; index < owners.size(); ++index) {
    if (owners[index] != kNobody) partition[owners[index]].push_back(static_cast<std::int64_t>(index));
  }
}

// Leaves each client the first examples of a shuffle that does not depend on the fraction, so that a smaller
// share lies within a larger one.
void keep_share(Partition& partition, double fraction, std::uint64_t seed) {
  for (std::size_t client = 0; client < partition.size(); ++client) {
    std::vector<std::int64_t>& share = partition[client];
    const double kept = fraction * static_cast<double>(share.size());
    share = shuffled(share, partition_stream(seed, kShares + client));
    share.resize(static_cast<std::size_t>(std::max(1LL, std::llround(kept))));
    std::ranges::sort(share);
  }
}

}  // namespace

const Schema<Dealing>& Dealing::schema() {
  static const Schema<Dealing> kSchema =
      dealing_schema("How many clients share the training examples.", Constraint::between(1, 1'000'000));
  return kSchema;
}

const Schema<Dealing>& Dealing::schema_of_users() {
  static const Schema<Dealing> kSchema = dealing_schema(
      "How many users, drawn at random, become clients; 0: all of them.", Constraint::between(0, 1'000'000));
  return kSchema;
}

void Dealing::validate() const {
  for (const std::int64_t degrees : rotations) {
    if (degrees % 90 == 0) continue;
    throw Error(Complaint{.found = fmt::format("rotations lists {} degrees", degrees),
                          .allowed = "multiples of 90",
                          .nearest = std::to_string(90 * ((degrees + 45) / 90) % 360)});
  }
}

void reject_request(std::string found, std::string remedy) {
  throw Error(Complaint{.found = std::move(found), .remedy = std::move(remedy)});
}

Dealing dealing_of(const std::string& kind, const Settings& settings) {
  Settings common;
  for (const auto& [name, value] : complete(find_kind(kind).fields, settings)) {
    if (find_field(Dealing::schema().fields(), name) != nullptr) common.emplace_back(name, value);
  }
  // Each kind's own range of `clients` was checked; this one has them all.
  return Dealing::schema_of_users().read(common);
}

std::vector<std::int64_t> shuffled(const std::vector<std::int64_t>& examples, Stream stream) {
  std::vector<std::int64_t> order = stream.permutation(std::ssize(examples));
  for (std::int64_t& index : order) index = examples[static_cast<std::size_t>(index)];
  return order;
}

std::vector<std::vector<std::int64_t>> indices_by_class(const std::string& kind,
                                                        const PartitionInput& input) {
  if (input.labels.empty()) {
    reject_request(
        fmt::format("partition \"{}\" deals by class label, which this data set does not have", kind),
        "use partition \"iid\" for regression");
  }
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(input.classes));
  for (std::size_t index = 0; index < input.labels.size(); ++index) {
    members[static_cast<std::size_t>(input.labels[index])].push_back(static_cast<std::int64_t>(index));
  }
  return members;
}

std::vector<std::string> partition_names() { return names_of(kinds(), &PartitionKind::name); }

const std::vector<Field>& partition_fields(const std::string& kind) { return find_kind(kind).fields; }

std::string partition_summary(const std::string& kind) { return find_kind(kind).summary; }

void check_partition_settings(const std::string& kind, const Settings& settings) {
  dealing_of(kind, settings);
}

Partition make_partition(const std::string& kind, const Settings& settings, const PartitionInput& input,
                         std::uint64_t seed) {
  const PartitionKind& found = find_kind(kind);
  check_input(input);
  const Dealing common = dealing_of(kind, settings);
  check_enough_examples(common, input);
  Partition partition = found.deal(settings, input, seed);
  // Before shares are cut: which examples stay depends on their order.
  sort_shares(partition, input.examples);
  if (common.train_fraction < 1) keep_share(partition, common.train_fraction, seed);
  return partition;
}

std::string partition_note(const std::string& kind, const Settings& settings, const PartitionInput& input,
                           std::uint64_t seed) {
  const PartitionKind& found = find_kind(kind);
  check_input(input);
  return found.note == nullptr ? std::string() : found.note(settings, input, seed);
}

}  // namespace fedarena
