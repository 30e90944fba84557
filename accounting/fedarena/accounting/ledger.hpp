#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/accounting/event.hpp"
#include "fedarena/base/export.hpp"

namespace fedarena {

/// Whose contribution a run hides.
enum class Unit {
  kNothing,  ///< nobody's: the run makes no privacy claim
  kRecord,   ///< one example of one client; clients hold disjoint examples
  kClient,   ///< everything that one client holds
  /// The same, against the server too: a client's accesses are the messages that leave it; what it does with
  /// its own examples before, nobody sees, and no ledger lists.
  kLocal,
  kLabel,  ///< the label of one example of one client; inputs and who holds them are public
};

/// The accesses of one round, in order, runs of equal events counted.
class FEDARENA_API RoundAccesses {
 public:
  RoundAccesses() = default;
  explicit RoundAccesses(std::vector<Access> accesses) : accesses_(std::move(accesses)) {}
  void add(const Event& event);
  const std::vector<Access>& list() const { return accesses_; }

 private:
  std::vector<Access> accesses_;
};

/// What happened to each client's data over a run. Consecutive rounds with equal accesses are one segment, so
/// that a ledger does not grow with the number of rounds. It records facts and states no epsilon.
///
/// Where data decides how much is asked for, what was made is no measure of what it reveals: accountants
/// compose a plan that was fixed before (or, with a filter, whatever stays below a fixed budget; Rogers et
/// al. 2016, Feldman and Zrnic 2021). Such a ledger charges the plan: `most_accesses` for each client in each
/// of its rounds, and, after `end_after`, the rounds that were left out.
class FEDARENA_API Ledger {
 public:
  struct Segment {
    std::int64_t first_round = 0, last_round = 0;
    std::int64_t participations = 0;  ///< rounds in it that count; fewer than all when a client sat some out
    std::vector<Access> accesses;     ///< of each of them
    bool operator==(const Segment&) const = default;
  };
  struct ClientRecord {
    std::int64_t examples = 0;  ///< size of the shard, assumed public
    std::vector<Segment> segments;
    /// What a model of its own took from its examples, by the rounds after which it was made: never sent,
    /// never charged.
    std::vector<Segment> kept = {};
    bool operator==(const ClientRecord&) const = default;
  };

  /// What segments hold, rounds multiplied out.
  static std::vector<Access> accesses_of(const std::vector<Segment>& segments);
  /// The rounds of segments that count.
  static std::int64_t participations_of(const std::vector<Segment>& segments);

  /// `most_accesses`: so many noised answers are charged to a client for each of its rounds where fewer were
  /// given, as papers account for methods that may end a round early (Wang et al., PoPETs 2024(3), Section
  /// 6.3); those missing are of the kind that was given most often. 0: what was given. Of records as units.
  explicit Ledger(Unit unit = Unit::kNothing, std::int64_t most_accesses = 0)
      : unit_(unit), most_accesses_(most_accesses) {}

  /// Adds a client; every client is added once, before its first round.
  void add_client(std::int64_t client, std::int64_t examples);
  /// Appends what one client's own training did to its examples in a round. Rounds of one client ascend; the
  /// last one may come again, when a crash lost what it was answered, and then counts both times.
  void record(std::int64_t round, std::int64_t client, const RoundAccesses& accesses);
  /// Appends what one client took from its own examples after a round and kept. Rounds of one client ascend;
  /// the last one again changes nothing.
  void record_kept(std::int64_t round, std::int64_t client, const RoundAccesses& accesses);
  /// Appends what happened in a round to the whole population at once, whoever took part: that is a secret of
  /// the mechanism. Rounds ascend as above.
  void record_population(std::int64_t round, const RoundAccesses& accesses);
  /// Appends what `record_population` would have appended in the larger population that a simulation with
  /// rescaled noise stands for.
  void record_as_if(std::int64_t round, const RoundAccesses& accesses);

  /// Appends what `written`, this ledger with one more round, holds of that round: an attempt that a crash
  /// lost. Another attempt may be recorded after it. Error when `written` does not go on where this ends.
  void add_lost(const Ledger& written, std::int64_t round);
  /// Data ended the run after this round (>= 1): what is recorded from here on was planned and never made.
  void end_after(std::int64_t round);

  Unit unit() const { return unit_; }
  std::int64_t most_accesses() const { return most_accesses_; }
  /// The round after which data ended the run; 0: nothing did.
  std::int64_t ended_after() const { return ended_after_; }
  /// The ledger that charges only what was made.
  Ledger made() const;
  /// Whether it charges for more than was made.
  bool charges_more() const;
  /// Whether some unit was asked for other noised answers in one of its rounds than in another, and no bound
  /// on them is charged: data may have decided which.
  bool varies() const;
  const std::map<std::int64_t, ClientRecord>& clients() const { return clients_; }
  const std::vector<Segment>& population() const { return population_; }
  const std::vector<Segment>& as_if() const { return as_if_; }
  /// All accesses that are charged to one unit of this client, rounds multiplied out: its own when records
  /// or its messages are the unit, the population's when clients are, none when nothing is.
  std::vector<Access> charged(std::int64_t client) const;
  /// The same for the population that the simulation stands for; empty when it stands for itself.
  std::vector<Access> charged_as_if() const;
  /// The ledger as it was after that round. A segment in which a client sat some rounds out does not tell
  /// which: the rounds kept have as few of its participations as possible, or as many.
  struct Past;
  Past after_round(std::int64_t round) const;
  /// JSON with a schema version; `from_json` throws Error naming the field that is wrong.
  std::string to_json() const;
  static Ledger from_json(std::string_view text);
  bool operator==(const Ledger&) const = default;

 private:
  void append(std::vector<Segment>& segments, std::int64_t round, const RoundAccesses& accesses) const;

  Unit unit_;
  std::int64_t most_accesses_;
  std::int64_t ended_after_ = 0;
  std::map<std::int64_t, ClientRecord> clients_;
  std::vector<Segment> population_;
  std::vector<Segment> as_if_;
};

struct FEDARENA_API Ledger::Past {
  Ledger fewest, most;
};

/// "none", "record", "client", "local", "label".
FEDARENA_API std::string_view name(Unit unit);
/// Whether each client is charged for its own accesses, instead of all for those of the population.
constexpr bool charges_each_client(Unit unit) {
  return unit == Unit::kRecord || unit == Unit::kLocal || unit == Unit::kLabel;
}

}  // namespace fedarena
