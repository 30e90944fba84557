#include "partitions/partition.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

const std::vector<PartitionKind>& kinds() {
  static const std::vector<PartitionKind> kTable = {
      iid_kind(),
      classes_kind(),
      dirichlet_kind(),
  };
  return kTable;
}

const PartitionKind& find_kind(const std::string& name) {
  for (const PartitionKind& kind : kinds()) {
    if (kind.name == name) return kind;
  }
  const std::vector<std::string> names = partition_names();
  throw Error(Complaint{.found = fmt::format("unknown partition \"{}\"", name),
                        .allowed = join_names(names),
                        .nearest = nearest_name(name, names)});
}

void check_input(const PartitionInput& input) {
  FEDARENA_CHECK(input.examples, >=, 0);
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
  throw Error(
      Complaint{.found = fmt::format("clients is {} and the data has {} training examples, which cannot give "
                                     "every client one",
                                     settings.clients, input.examples),
                .remedy = "ask for fewer clients or use more examples"});
}

// What every kind has of the settings of this one.
Dealing dealing(const PartitionKind& kind, const Settings& settings) {
  Settings common;
  for (const auto& [name, value] : complete(kind.fields, settings)) {
    if (find_field(Dealing::schema().fields(), name) != nullptr) common.emplace_back(name, value);
  }
  return Dealing::schema().read(common);
}

// Beyond the streams of every kind.
constexpr std::uint64_t kShares = std::uint64_t{1} << 63;

// Leaves each client the first examples of a shuffle that does not depend on the fraction, so that a smaller
// share lies within a larger one.
void keep_share(Partition& partition, double fraction, std::uint64_t seed) {
  for (std::size_t client = 0; client < partition.size(); ++client) {
    const std::vector<std::int64_t>& share = partition[client];
    const auto size = static_cast<std::int64_t>(share.size());
    const std::int64_t kept = std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(size)));
    const std::vector<std::int64_t> order = partition_stream(seed, kShares + client).permutation(size);
    std::vector<std::int64_t> left;
    for (std::int64_t i = 0; i < kept; ++i) {
      left.push_back(share[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
    }
    std::sort(left.begin(), left.end());
    partition[client] = std::move(left);
  }
}

}  // namespace

const Schema<Dealing>& Dealing::schema() {
  static const Schema<Dealing> kSchema = {
      {"clients", &Dealing::clients, "How many clients share the training examples.",
       Constraint::between(1, 1'000'000)},
      {"train_fraction", &Dealing::train_fraction,
       "The share of its examples that each client keeps after the dealing, at least one, drawn uniformly at "
       "random whatever their classes; of one seed, smaller shares lie within larger ones.",
       Constraint::between(1e-6, 1)}};
  return kSchema;
}

std::vector<std::vector<std::int64_t>> indices_by_class(const std::string& kind,
                                                        const PartitionInput& input) {
  if (input.labels.empty()) {
    throw Error(Complaint{
        .found =
            fmt::format("partition \"{}\" deals by class label, which this data set does not have", kind),
        .remedy = "use partition \"iid\" for regression"});
  }
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(input.classes));
  for (std::size_t index = 0; index < input.labels.size(); ++index) {
    members[static_cast<std::size_t>(input.labels[index])].push_back(static_cast<std::int64_t>(index));
  }
  return members;
}

std::vector<std::string> partition_names() {
  std::vector<std::string> names;
  for (const PartitionKind& kind : kinds()) names.push_back(kind.name);
  return names;
}

const std::vector<Field>& partition_fields(const std::string& kind) { return find_kind(kind).fields; }

std::string partition_summary(const std::string& kind) { return find_kind(kind).summary; }

Partition make_partition(const std::string& kind, const Settings& settings, const PartitionInput& input,
                         std::uint64_t seed) {
  const PartitionKind& found = find_kind(kind);
  check_input(input);
  const Dealing common = dealing(found, settings);
  check_enough_examples(common, input);
  Partition partition = found.deal(settings, input, seed);
  if (common.train_fraction < 1) keep_share(partition, common.train_fraction, seed);
  return partition;
}

}  // namespace fedarena
