#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <torch/types.h>

#include "fedarena/message.hpp"
#include "fedarena/observations.hpp"

namespace fedarena {

/// Closes what an algorithm could carry private data out of a vote with, as far as the harness owns it, for
/// as long as this lives: the client's observations, its state, and its oracle, by a flag.
class VoteSeal {
 public:
  /// State and observations may be nullptr. A client is confined to one thread, which waits for the votes, so
  /// that whatever is asked and put meanwhile comes from a vote, on whichever thread.
  VoteSeal(bool& casting_votes, const Message* state, Observations* observed);
  ~VoteSeal();
  VoteSeal(const VoteSeal&) = delete;
  VoteSeal& operator=(const VoteSeal&) = delete;

  /// Error where an entry of the state was put since.
  void check() const;

 private:
  // Of an entry's value: the same tensor, or the same bits.
  using Value = std::variant<torch::Tensor, std::uint64_t>;
  static Value value_of(const Message::Entry& entry);
  static bool same(const Value& left, const Value& right);

  bool& casting_votes_;
  const Message* state_;
  Observations* observed_;
  std::vector<std::pair<std::string, Value>> before_;
};

}  // namespace fedarena
