// Li, Diao, Chen, He, "Federated Learning on Non-IID Data Silos: An Experimental Study" (ICDE 2022),
// quantity-based label imbalance, "#C = k", in the form of its code, NIID-Bench, partition
// "noniid-#label<k>": client i holds class i modulo the number of classes, and k - 1 others drawn uniformly;
// each class is shuffled and cut into equal parts for the clients that hold it, the first of which get one
// more where it does not divide.
//
// Differs from NIID-Bench: classes are those that have examples. With fewer clients than classes a class may
// have no holder, where NIID-Bench stops with an error; here the choice is drawn again, and so is one that
// gives a class more holders than examples. Of what it accepts, the distribution is the same.

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

// With as many classes to give as there are, one choice in 500 fits for ten classes; each costs little.
constexpr std::uint64_t kSharedClassesAttempts = 10'000;
// Streams from here shuffle classes; those before draw choices.
constexpr std::uint64_t kShuffles = std::uint64_t{1} << 62;

struct SharedSettings : Dealing {
  std::int64_t classes_per_client = 2;

  static Schema<SharedSettings> schema() {
    return Schema<SharedSettings>{{"classes_per_client", &SharedSettings::classes_per_client,
                                   "How many classes each client holds; others may hold them too.",
                                   Constraint::between(1, 1'000'000)}}
        .extends<Dealing>();
  }
};

// The clients that hold each class, ascending.
using Holders = std::vector<std::vector<std::size_t>>;

void check_possible(const SharedSettings& settings, std::int64_t classes) {
  if (settings.classes_per_client > classes) {
    reject_request(fmt::format("classes_per_client is {} and the data has examples of {} classes",
                               settings.classes_per_client, classes),
                   "lower classes_per_client");
  }
  if (settings.clients * settings.classes_per_client < classes) {
    reject_request(fmt::format("{} with classes_per_client = {} hold at most {} of the {} classes and leave "
                               "the others out",
                               counted(settings.clients, "client"), settings.classes_per_client,
                               settings.clients * settings.classes_per_client, classes),
                   "raise clients or classes_per_client, or use partition \"classes\" with class_order");
  }
}

Holders draw_holders(const SharedSettings& settings, std::size_t classes, Stream stream) {
  Holders holders(classes);
  for (std::size_t client = 0; client < static_cast<std::size_t>(settings.clients); ++client) {
    const std::size_t own = client % classes;
    holders[own].push_back(client);
    // Of the other classes, which are numbered without the own one.
    for (const std::int64_t other : stream.sample_without_replacement(static_cast<std::int64_t>(classes) - 1,
                                                                      settings.classes_per_client - 1)) {
      const auto at = static_cast<std::size_t>(other);
      holders[at < own ? at : at + 1].push_back(client);
    }
  }
  return holders;
}

// The first choice in which every class has a holder and every holder an example.
Holders choose_holders(const SharedSettings& settings, const std::vector<std::vector<std::int64_t>>& members,
                       std::uint64_t seed) {
  for (std::uint64_t attempt = 0; attempt < kSharedClassesAttempts; ++attempt) {
    Holders holders = draw_holders(settings, members.size(), partition_stream(seed, attempt));
    bool fits = true;
    for (std::size_t label = 0; fits && label < members.size(); ++label) {
      fits = !holders[label].empty() && holders[label].size() <= members[label].size();
    }
    if (fits) return holders;
  }
  reject_request(fmt::format("no choice of {} gave each of {} classes a holder among {} clients, and "
                             "each holder an example",
                             kSharedClassesAttempts, members.size(), settings.clients),
                 fmt::format("use {} clients or more, so that every class has a holder, but fewer "
                             "than classes have examples; or change classes_per_client",
                             members.size()));
}

Partition deal_shared_classes(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const SharedSettings settings = SharedSettings::schema().read(given);
  auto members = indices_by_class("shared-classes", input);
  std::erase_if(members, [](const auto& member) { return member.empty(); });
  check_possible(settings, std::ssize(members));
  const Holders holders = choose_holders(settings, members, seed);
  Partition partition(static_cast<std::size_t>(settings.clients));
  for (std::size_t label = 0; label < members.size(); ++label) {
    const std::size_t size = members[label].size(), parts = holders[label].size();
    const std::vector<std::int64_t> whole =
        shuffled(members[label], partition_stream(seed, kShuffles + label));
    auto begin = whole.begin();
    for (std::size_t part = 0; part < parts; ++part) {
      std::vector<std::int64_t>& share = partition[holders[label][part]];
      const auto end = begin + static_cast<std::ptrdiff_t>(size / parts + (part < size % parts ? 1 : 0));
      share.insert(share.end(), begin, end);
      begin = end;
    }
  }
  return partition;
}

}  // namespace

PartitionKind shared_classes_kind() {
  return {"shared-classes",
          "As NIID-Bench's #C = k: gives every client some classes, in turn and at random, and each class in "
          "equal parts to those that hold it.",
          SharedSettings::schema().fields(), deal_shared_classes};
}

}  // namespace fedarena
