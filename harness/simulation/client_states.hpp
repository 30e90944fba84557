#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "harness/simulation/state_file.hpp"
#include "harness/wire/wire.hpp"

namespace fedarena {

/// What clients of a run remember between rounds, each an encoded message: in memory while all of them
/// together fit into a limit, then in a file. Where they lie changes no result.
class ClientStates {
 public:
  using State = std::shared_ptr<const Bytes>;

  /// Where states may lie.
  struct Room {
    std::int64_t memory = std::numeric_limits<std::int64_t>::max();  ///< bytes of all states together
    std::filesystem::path file = {};  ///< beyond the memory; with no path they stay in memory
  };

  /// All states, as a checkpoint names them: the one kind in full, the other by place.
  struct Content {
    std::map<std::int64_t, State> held;
    std::map<std::int64_t, Extent> filed;
  };

  explicit ClientStates(Room room) : room_(std::move(room)) {}

  /// What a client remembers; nullptr when that is nothing. May be called from several threads while none
  /// changes anything. Error when the file is damaged.
  State get(std::int64_t client) const;
  /// Replaces the states of some clients, each named once: all of them or, when it throws, none.
  void put(const std::vector<std::pair<std::int64_t, State>>& states);
  /// The same, in memory alone until the next call of settle(): for states that nobody may find on disk yet.
  /// What was staged before is settled first; nothing changes when that throws.
  void stage(std::map<std::int64_t, State> states);
  /// Puts what is staged where it belongs: all of it or, when it throws, nothing.
  void settle();

  /// What a checkpoint has to hold, nothing of it staged any longer. The file is on disk when it returns.
  Content content();
  /// Continues from such content. Error when the file that it names is missing or too short.
  void restore(Content content);
  /// To be called when what content() last returned has been brought to disk as a checkpoint, before
  /// anything is changed: nothing that only earlier checkpoints name is needed any longer. Until then it
  /// stays in the file, so that a run can be resumed from the last checkpoint at any time.
  void checkpointed();

 private:
  struct StoredState {
    Extent extent;
    bool named = false;  // by the last checkpoint
  };

  void move_to_file();
  void put_into_file(const std::vector<std::pair<std::int64_t, State>>& states);

  Room room_;
  std::map<std::int64_t, State> staged_;  // goes before what the others have
  std::map<std::int64_t, State> held_;
  std::int64_t held_bytes_ = 0;
  std::optional<StateFile> file_;  // then all states are in it, and none is held
  std::map<std::int64_t, StoredState> filed_;
  std::vector<Extent> outdated_;  // named by the last checkpoint, no client's state any longer
};

}  // namespace fedarena
