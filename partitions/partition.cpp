#include "partitions/partition.hpp"

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
void check_enough_examples(const PartitionKind& kind, const Settings& settings, const PartitionInput& input) {
  for (const auto& [name, value] : complete(kind.fields, settings)) {
    if (name != "clients" || std::get<std::int64_t>(value) <= input.examples) continue;
    throw Error(Complaint{
        .found = fmt::format("clients is {} and the data has {} training examples, which cannot give "
                             "every client one",
                             to_text(value), input.examples),
        .remedy = "ask for fewer clients or use more examples"});
  }
}

}  // namespace

const Schema<ClientCount>& ClientCount::schema() {
  static const Schema<ClientCount> kSchema = {{"clients", &ClientCount::clients,
                                               "How many clients share the training examples.",
                                               Constraint::between(1, 1'000'000)}};
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
  check_enough_examples(found, settings, input);
  return found.deal(settings, input, seed);
}

}  // namespace fedarena
