#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
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
  explicit RoundAccesses(std::vector<Access> accesses, std::optional<std::vector<Access>> unmade = {})
      : accesses_(std::move(accesses)), unmade_(std::move(unmade)) {}
  void add(const Event& event);
  /// What a plan that was fixed before the round has besides, and was not made: it is charged all the same.
  void leave_unmade(std::vector<Access> unmade) { unmade_ = std::move(unmade); }
  /// Those that were made.
  const std::vector<Access>& list() const { return accesses_; }
  /// None where there is no plan.
  const std::optional<std::vector<Access>>& unmade() const { return unmade_; }
  /// All that are charged: made, or planned and not made.
  std::vector<Access> charged() const;

 private:
  std::vector<Access> accesses_;
  std::optional<std::vector<Access>> unmade_;
};

/// What happened to each client's data over a run. Consecutive rounds with equal accesses are one segment, so
/// that a ledger does not grow with the number of rounds. It records facts and states no epsilon.
///
/// Where data decides how much is asked for, what was made does not measure what it reveals: accountants
/// compose a plan that was fixed before (or, with a filter, whatever stays below a fixed budget; Rogers et
/// al. 2016, Feldman and Zrnic 2021). Such a ledger charges the plan: in each round of a client also what was
/// planned and not made, as papers account for methods that may end a round early (Wang et al., PoPETs
/// 2024(3), Section 6.3), and, after `end_after`, the rounds that were left out.
class FEDARENA_API Ledger {
 public:
  struct Segment {
    std::int64_t first_round = 0, last_round = 0;
    /// Rounds in it that count; fewer than all when a client sat some out, 0 where crashes lost every attempt
    /// at its only round.
    std::int64_t participations = 0;
    std::vector<Access> accesses;  ///< of each of them
    /// Planned for each of them besides, and not made; none where there was no plan.
    std::optional<std::vector<Access>> unmade = {};
    /// How often its round was begun, which is more than once where crashes lost it: `accesses` are those of
    /// all attempts, one after the other.
    std::int64_t attempts = 1;
    /// What each attempt at a round asked for; nothing where they asked for different things.
    std::optional<std::vector<Access>> accesses_of_attempt() const;
    /// One of them.
    RoundAccesses round() const { return RoundAccesses(accesses, unmade); }
    /// How often its accesses are charged: also for a round that was lost, which somebody may have seen.
    std::int64_t times_charged() const { return participations > 0 ? participations : 1; }
    bool operator==(const Segment&) const = default;
  };
  /// A list that takes 8 bytes while it is empty, as it is of most of a million clients.
  class Segments {
   public:
    using value_type = Segment;
    using const_iterator = std::vector<Segment>::const_iterator;
    using iterator = const_iterator;

    Segments() = default;
    Segments(std::vector<Segment> list) {  // NOLINT(google-explicit-constructor)
      if (!list.empty()) list_ = std::make_unique<std::vector<Segment>>(std::move(list));
    }
    Segments(const Segments& other) : Segments(other.list()) {}
    Segments& operator=(const Segments& other) { return *this = Segments(other); }
    Segments(Segments&&) noexcept = default;
    Segments& operator=(Segments&&) noexcept = default;
    ~Segments() = default;

    operator const std::vector<Segment>&() const { return list(); }  // NOLINT(google-explicit-constructor)
    const std::vector<Segment>& list() const {
      static const std::vector<Segment> kNone;
      return list_ ? *list_ : kNone;
    }
    const_iterator begin() const { return list().begin(); }
    const_iterator end() const { return list().end(); }
    std::size_t size() const { return list().size(); }
    bool empty() const { return list().empty(); }
    const Segment& front() const { return list().front(); }
    const Segment& back() const { return list().back(); }
    const Segment& at(std::size_t index) const { return list().at(index); }
    const Segment& operator[](std::size_t index) const { return list()[index]; }
    friend bool operator==(const Segments& left, const Segments& right) {
      return left.list() == right.list();
    }

   private:
    friend class Ledger;
    std::vector<Segment>& edit() {
      if (!list_) list_ = std::make_unique<std::vector<Segment>>();
      return *list_;
    }
    std::unique_ptr<std::vector<Segment>> list_;
  };
  struct ClientRecord {
    std::int64_t examples = 0;  ///< size of the shard, assumed public
    Segments segments = {};
    /// What a model of its own took from its examples, by the rounds after which it was made: never sent,
    /// never charged.
    Segments kept = {};
    bool operator==(const ClientRecord&) const = default;
  };

  /// The record of each client, by their ascending numbers. Copies share what neither of them changes, so
  /// that a round costs what its cohort does, and an idle client takes 33 bytes.
  class FEDARENA_API Clients {
   public:
    using value_type = std::pair<std::int64_t, ClientRecord>;
    class const_iterator {  // NOLINT(readability-identifier-naming): as containers call it
     public:
      using iterator_category = std::forward_iterator_tag;
      using value_type = Clients::value_type;
      using difference_type = std::ptrdiff_t;
      using pointer = const value_type*;
      using reference = const value_type&;
      const_iterator() = default;
      reference operator*() const { return (*of_->blocks_[block_])[at_]; }
      pointer operator->() const { return &**this; }
      const_iterator& operator++() {
        if (++at_ == of_->blocks_[block_]->size()) {
          ++block_;
          at_ = 0;
        }
        return *this;
      }
      const_iterator operator++(int) {
        const_iterator before = *this;
        ++*this;
        return before;
      }
      bool operator==(const const_iterator&) const = default;

     private:
      friend class Clients;
      const_iterator(const Clients* of, std::size_t block, std::size_t at)
          : of_(of), block_(block), at_(at) {}
      const Clients* of_ = nullptr;
      std::size_t block_ = 0, at_ = 0;
    };
    using iterator = const_iterator;

    const_iterator begin() const { return {this, 0, 0}; }
    const_iterator end() const { return {this, blocks_.size(), 0}; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const_iterator find(std::int64_t client) const;
    bool contains(std::int64_t client) const { return find(client) != end(); }
    /// A broken invariant where there is no such client.
    const ClientRecord& at(std::int64_t client) const;
    bool operator==(const Clients& other) const;

   private:
    friend class Ledger;
    using Block = std::vector<value_type>;
    // The block in which that client is or would be; there is one at least.
    std::size_t block_of(std::int64_t client) const;
    Block& own(std::size_t block);
    // False where there is one already.
    bool add(std::int64_t client, ClientRecord record);
    ClientRecord& edit(std::int64_t client);
    std::vector<std::shared_ptr<Block>> blocks_;  // none is empty
    std::size_t size_ = 0;
  };

  /// What was made in segments, rounds multiplied out.
  static std::vector<Access> accesses_of(const std::vector<Segment>& segments);
  /// The same with what was planned and not made.
  static std::vector<Access> charged_of(const std::vector<Segment>& segments);
  /// The rounds of segments that count.
  static std::int64_t participations_of(const std::vector<Segment>& segments);

  explicit Ledger(Unit unit = Unit::kNothing) : unit_(unit) {}

  /// Says what everybody is taken to know beside sizes, in words such as "the server's proxy data": a premise
  /// of every epsilon of this ledger. Once, before the first round; each of them once.
  void declare_public(std::vector<std::string> what) { public_data_ = std::move(what); }
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

  /// Appends what `written`, this ledger with one more round, holds of that round: attempts that crashes
  /// lost. They are charged and no participations; another attempt may be recorded after them. Once more
  /// changes nothing. Error when `written` does not go on where this ends.
  void add_lost(const Ledger& written, std::int64_t round);
  /// Data ended the run after this round (>= 1): what is recorded from here on was planned and never made.
  void end_after(std::int64_t round);
  /// All clients at once, where one may be named.
  static constexpr std::int64_t kEverybody = -1;
  /// A budget did not pay for a round of this client, which asked for something else than those before it: it
  /// is not recorded, but data may have decided that it is not. Or the price of a round that was made, or
  /// that a rule left out, followed from results.
  void withhold(std::int64_t client) { withheld_.insert(client); }

  Unit unit() const { return unit_; }
  /// What was declared public; empty: nothing but sizes, and what accesses say (DeclaredPublic).
  const std::vector<std::string>& public_data() const { return public_data_; }
  /// The round after which data ended the run; 0: nothing did.
  std::int64_t ended_after() const { return ended_after_; }
  /// Of whom such rounds were withheld.
  const std::set<std::int64_t>& withheld() const { return withheld_; }
  /// The ledger that charges only what was made.
  Ledger made() const;
  /// Whether it charges for more than was made.
  bool charges_more() const;
  /// Whether some unit was asked for other noised answers in one of its rounds than in another, recorded or
  /// withheld, and no plan said so before: data may have decided which.
  bool varies() const;
  /// The same of that client's units.
  bool varies(std::int64_t client) const;
  const Clients& clients() const { return clients_; }
  const std::vector<Segment>& population() const { return population_; }
  const std::vector<Segment>& as_if() const { return as_if_; }
  /// The last round of anybody; 0 before the first one.
  std::int64_t last_round() const;
  /// All accesses that are charged to one unit of this client, rounds multiplied out: its own when records
  /// or its messages are the unit, the population's when clients are, none when nothing is.
  std::vector<Access> charged(std::int64_t client) const;
  /// The same for the population that the simulation stands for, of which exact accesses are as exact; empty
  /// when it stands for itself.
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
  std::int64_t ended_after_ = 0;
  std::set<std::int64_t> withheld_;
  Clients clients_;
  std::vector<Segment> population_;
  std::vector<Segment> as_if_;
  std::vector<std::string> public_data_;
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
