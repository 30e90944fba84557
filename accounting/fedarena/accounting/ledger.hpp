#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// Equal events in a row.
struct Access {
  Event event;
  std::int64_t count = 0;
  bool operator==(const Access&) const = default;
};

/// The accesses of one client in one round, in order, runs of equal events counted.
class FEDARENA_API RoundAccesses {
 public:
  void add(const Event& event);
  const std::vector<Access>& list() const { return accesses_; }

 private:
  std::vector<Access> accesses_;
};

/// What happened to each client's data over a run. Consecutive participations with equal accesses are one
/// segment, so that a ledger does not grow with the number of rounds. It records facts and states no epsilon.
class FEDARENA_API Ledger {
 public:
  struct Segment {
    std::int64_t first_round = 0, last_round = 0;
    std::int64_t participations = 0;  ///< client-rounds in it; fewer than rounds when the client sat some out
    std::vector<Access> accesses;     ///< of each of them
    bool operator==(const Segment&) const = default;
  };
  struct ClientRecord {
    std::int64_t examples = 0;  ///< size of the shard, assumed public
    std::vector<Segment> segments;
    bool operator==(const ClientRecord&) const = default;
  };

  /// Adds a client; every client is added once, before its first round.
  void add_client(std::int64_t client, std::int64_t examples);
  /// Appends the accesses of one client-round; rounds of one client ascend.
  void record(std::int64_t round, std::int64_t client, const RoundAccesses& accesses);

  const std::map<std::int64_t, ClientRecord>& clients() const { return clients_; }
  /// JSON with a schema version; `from_json` throws Error naming the field that is wrong.
  std::string to_json() const;
  static Ledger from_json(std::string_view text);
  bool operator==(const Ledger&) const = default;

 private:
  std::map<std::int64_t, ClientRecord> clients_;
};

}  // namespace fedarena
