// Natural partitions, as FEMNIST's by its writers (Caldas et al. 2018, LEAF): one client a user of the data
// set, who holds all of that user's examples. Users with too few of them are left out; of the others, some
// are drawn uniformly where not all are asked for. Clients are in the order of the users' numbers.
//
// Differs from LEAF: it takes users in random order until they hold a share of all examples; here their
// number is given.

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "partitions/kinds.hpp"

namespace fedarena {
namespace {

struct UserSettings : Dealing {
  UserSettings() { clients = 0; }

  std::int64_t min_examples = 1;

  static Schema<UserSettings> schema() {
    return Schema<UserSettings>{{"min_examples", &UserSettings::min_examples,
                                 "The least number of examples of a user; those with fewer are left out.",
                                 Constraint::between(1, 1e9)}}
        .extends(Dealing::schema_of_users());
  }
};

// The indices of each user's examples.
std::vector<std::vector<std::int64_t>> indices_by_user(const PartitionInput& input) {
  if (input.users.empty()) {
    reject_request(
        "partition \"by-user\" deals by user, and this data set does not say whose its examples are",
        "use another partition, or a data set with users");
  }
  std::vector<std::vector<std::int64_t>> members;
  for (std::size_t index = 0; index < input.users.size(); ++index) {
    const auto user = static_cast<std::size_t>(input.users[index]);
    if (user >= members.size()) members.resize(user + 1);
    members[user].push_back(static_cast<std::int64_t>(index));
  }
  return members;
}

void check_enough_users(const UserSettings& settings, std::size_t users) {
  const std::string least = "at least " + counted(settings.min_examples, "example");
  if (users == 0) {
    reject_request(fmt::format("no user of the data has {}", least), "lower min_examples");
  }
  if (static_cast<std::size_t>(settings.clients) <= users) return;
  reject_request(fmt::format("clients is {} and the data has {} with {}", settings.clients,
                             counted(users, "user"), least),
                 "lower clients or min_examples; clients = 0 takes all users");
}

Partition deal_by_user(const Settings& given, const PartitionInput& input, std::uint64_t seed) {
  const UserSettings settings = UserSettings::schema().read(given);
  Partition users = indices_by_user(input);
  std::erase_if(users, [&](const auto& share) { return std::ssize(share) < settings.min_examples; });
  check_enough_users(settings, users.size());
  if (settings.clients == 0) return users;
  Partition partition;
  for (const std::int64_t user :
       partition_stream(seed, 0).sample_without_replacement(std::ssize(users), settings.clients)) {
    partition.push_back(std::move(users[static_cast<std::size_t>(user)]));
  }
  return partition;
}

}  // namespace

PartitionKind by_user_kind() {
  return {"by-user", "Makes every user of the data set a client, who holds all of that user's examples.",
          UserSettings::schema().fields(), deal_by_user};
}

}  // namespace fedarena
