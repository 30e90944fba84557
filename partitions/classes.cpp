// McMahan et al. 2017, section 3, "pathological non-IID", in the form where no two clients share a class, as
// FedLAP-DP (2024) uses it: classes are taken in a given order, some for each client, and a client holds all
// their examples.
//
// Differs from McMahan et al.: they sort by label and deal shards, so that two clients may share a class.

#include <algorithm>
#include <numeric>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

struct ClassSettings : Dealing {
  std::int64_t classes_per_client = 2;
  std::vector<std::int64_t> class_order;
  bool equal_sizes = false;

  static Schema<ClassSettings> schema() {
    return Schema<ClassSettings>{
        {"classes_per_client", &ClassSettings::classes_per_client,
         "How many classes each client holds alone.", Constraint::between(1, 1'000'000)},
        {"class_order", &ClassSettings::class_order,
         "The classes in the order in which clients take them; empty means all classes, ascending.",
         Constraint::at_least(0)},
        {"equal_sizes", &ClassSettings::equal_sizes,
         "Whether every client drops examples at random down to the size of the smallest client."}}
        .extends<Dealing>();
  }

  std::int64_t needed() const { return clients * classes_per_client; }
  std::string request() const {
    return fmt::format("{} with {} each", counted(clients, "client"),
                       counted(classes_per_client, "class", "classes"));
  }
};

void check_order(const ClassSettings& settings, std::int64_t classes) {
  std::vector<bool> seen(static_cast<std::size_t>(classes));
  for (const std::int64_t label : settings.class_order) {
    if (label >= classes) {
      throw Error(Complaint{.found = fmt::format("class_order lists class {}", label),
                            .allowed = fmt::format("classes 0 to {}", classes - 1)});
    }
    if (seen[static_cast<std::size_t>(label)]) {
      throw Error(Complaint{.found = fmt::format("class_order lists class {} twice", label),
                            .allowed = "every class at most once"});
    }
    seen[static_cast<std::size_t>(label)] = true;
  }
  if (static_cast<std::int64_t>(settings.class_order.size()) != settings.needed()) {
    reject_request(fmt::format("class_order lists {} classes and {} take {}", settings.class_order.size(),
                               settings.request(), settings.needed()),
                   "list exactly the classes to use");
  }
}

// The classes to deal, some for each client in turn.
std::vector<std::int64_t> resolved_order(const ClassSettings& settings, std::int64_t classes) {
  if (settings.needed() > classes) {
    reject_request(fmt::format("{} need {} classes, because no two clients share one, and the data "
                               "has {}",
                               settings.request(), settings.needed(), classes),
                   "lower clients or classes_per_client, or use partition \"dirichlet\"");
  }
  if (!settings.class_order.empty()) {
    check_order(settings, classes);
    return settings.class_order;
  }
  if (settings.needed() < classes) {
    reject_request(fmt::format("{} use {} of the {} classes and leave the others out", settings.request(),
                               settings.needed(), classes),
                   "raise clients or classes_per_client, or list the classes to use in class_order");
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void cut_to_smallest(Partition& partition, std::uint64_t seed) {
  std::size_t smallest = partition.front().size();
  for (const auto& share : partition) smallest = std::min(smallest, share.size());
  for (std::size_t client = 0; client < partition.size(); ++client) {
    std::vector<std::int64_t>& share = partition[client];
    const std::vector<std::int64_t> kept =
        partition_stream(seed, client)
            .sample_without_replacement(static_cast<std::int64_t>(share.size()),
                                        static_cast<std::int64_t>(smallest));
    // `kept` ascends, so every position is read before it is overwritten.
    for (std::size_t i = 0; i < kept.size(); ++i) share[i] = share[static_cast<std::size_t>(kept[i])];
    share.resize(smallest);
  }
}

Partition deal_classes(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const ClassSettings settings = ClassSettings::schema().read(given);
  const auto members = indices_by_class("classes", input);
  const std::vector<std::int64_t> order = resolved_order(settings, input.classes);
  Partition partition(static_cast<std::size_t>(settings.clients));
  for (std::size_t position = 0; position < order.size(); ++position) {
    std::vector<std::int64_t>& share =
        partition[position / static_cast<std::size_t>(settings.classes_per_client)];
    const std::vector<std::int64_t>& taken = members[static_cast<std::size_t>(order[position])];
    share.insert(share.end(), taken.begin(), taken.end());
  }
  for (std::size_t client = 0; client < partition.size(); ++client) {
    if (partition[client].empty()) {
      reject_request(fmt::format("client {} would hold no example: the data has none of its classes", client),
                     "leave classes without examples out of class_order");
    }
    std::ranges::sort(partition[client]);  // which examples a cut keeps depends on their order
  }
  if (settings.equal_sizes) cut_to_smallest(partition, seed);
  return partition;
}

}  // namespace

PartitionKind classes_kind() {
  return {"classes", "Gives every client all examples of its own classes, which no other client holds.",
          ClassSettings::schema().fields(), deal_classes};
}

}  // namespace fedarena
