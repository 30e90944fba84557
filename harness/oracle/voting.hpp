#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/pool.hpp"

namespace fedarena {

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
  /// the query says, or a voter answers or remembers otherwise when it is asked alone; there is at least one
  /// voter.
  torch::Tensor sum(const Vote& vote, const VoteQuery& query, const WorkPool& pool);
  /// What all of them remember.
  Message memory() const;

 private:
  struct Block {
    std::int64_t begin = 0, end = 0;
    Batch examples;  // undefined until it is read, or where it is not kept
    Message memory;
  };
  Voting(std::int64_t voters, std::int64_t block_size, bool keeps_examples, Source source);
  torch::Tensor sum_of(Block& block, const Vote& vote, const VoteQuery& query) const;

  Source source_;
  bool keeps_examples_;
  bool independent_ = false;  // as far as was tried
  std::vector<Block> blocks_;
};

}  // namespace fedarena
