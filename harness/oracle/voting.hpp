#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/pool.hpp"
#include "fedarena/base/stream.hpp"

#include "harness/sdk/message_snapshot.hpp"

namespace fedarena {

/// Which votes of a client in a round are asked of some voters again, alone. An algorithm may have votes by
/// the thousand, and several kinds in turn: from each one that is tried, the next lies at most as many on as
/// were cast.
class VoteTrials {
 public:
  explicit VoteTrials(const Stream& draws) : draws_(draws) {}

  /// Counts a vote; whether it is tried.
  bool cast();
  /// Of that many blocks the one that is asked, and of its voters, ascending, those who are.
  std::size_t block(std::size_t blocks) { return draws_.below(blocks); }
  std::vector<std::int64_t> voters(std::int64_t voters);

 private:
  Stream draws_;
  std::uint64_t votes_ = 0, next_ = 1;
};

/// Voters of one client, and the sums of what they say. They are asked in blocks of a fixed number, each on
/// one worker, and sums are folded in the order of blocks: the same bits for any number of workers.
class Voting {
 public:
  /// Hands out the examples of voters [begin, end): inputs [voters, examples, input shape...]; called from
  /// several threads at once.
  using Source = std::function<Batch(std::int64_t begin, std::int64_t end)>;

  /// `remember`: what voters remembered, tensors [voters, ...].
  static Voting of_parts(std::int64_t parts, Source source, const Message& remembered);
  /// Each of so many examples votes for itself. Their examples are read anew for each vote.
  static Voting of_examples(std::int64_t examples, Source source);

  /// Each vote of each voter clipped to the query's bound (one that is not finite counts as zero), summed:
  /// [votes, numbers], float64, on the device of the answers. Error where answers are not of the shape that
  /// the query says, a voter answers or remembers otherwise when it is asked alone, or voters of two blocks
  /// remember other tensors, by name, type or shape; there is at least one voter.
  torch::Tensor sum(const Vote& vote, const VoteQuery& query, const WorkPool& pool, VoteTrials& trials);
  /// What all of them remember.
  Message memory() const;

 private:
  struct Block {
    std::int64_t begin = 0, end = 0;
    Batch examples;  // undefined until it is read, or where it is not kept
    Message memory;
    // Who was tried in the last vote, and what they remember of it, asked alone: one may take less from
    // others than rounding brings, and magnify it in the next vote.
    std::map<std::int64_t, Message> tried;
  };
  Voting(std::int64_t voters, std::int64_t block_size, bool keeps_examples, Source source);
  // `alone`: voters of the block who are asked again.
  torch::Tensor sum_of(Block& block, const Vote& vote, const VoteQuery& query,
                       const std::vector<std::int64_t>& alone) const;
  // Error where voters of two blocks remember other tensors.
  void check_alike() const;

  Source source_;
  bool keeps_examples_;
  std::vector<Block> blocks_;
};

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

  /// Error where an entry of the state was put, or written to in place, since.
  void check() const;

 private:
  bool& casting_votes_;
  const Message* state_;
  Observations* observed_;
  std::optional<MessageSnapshot> before_;
  std::string numbers_;  // of the state, which accessors write to unseen
};

}  // namespace fedarena
