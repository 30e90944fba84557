#include "harness/oracle/voting.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/ranges.h>

namespace fedarena {
namespace {

// As many as batched products of small networks gain from, and as many as fit into a cache.
constexpr std::int64_t kPartsInBlock = 32;
constexpr std::int64_t kExamplesInBlock = 256;

// Of the length of an answer. Rounding, which differs with the size of a batch, may turn some of many signs
// or ranks in it.
constexpr double kTolerance = 0.1;

Message rows_of(const Message& memory, std::int64_t begin, std::int64_t count) {
  Message rows;
  for (const Message::Entry& entry : memory.entries())
    rows.put_entry({entry.name, std::get<torch::Tensor>(entry.content).narrow(0, begin, count).clone()});
  return rows;
}

void check_memory(const Message& memory, std::int64_t voters) {
  for (const Message::Entry& entry : memory.entries()) {
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (tensor == nullptr || tensor->dim() == 0 || tensor->size(0) != voters)
      throw Bug(fmt::format("\"{}\", which voters remember, is not a tensor with a row for each of {}",
                            entry.name, voters));
  }
}

torch::Tensor clipped(const torch::Tensor& answers, std::int64_t voters, double bound) {
  if (!answers.defined() || answers.dim() != 3 || answers.size(0) != voters || !answers.is_floating_point())
    throw Bug(fmt::format(
        "{} voters answered with {}, where [voters, votes, numbers] is asked for", voters,
        answers.defined() ? fmt::format("[{}]", fmt::join(answers.sizes(), ", ")) : "an undefined tensor"));
  const torch::Tensor values = answers.detach().to(torch::kFloat64);
  const torch::Tensor norms = values.square().sum(2, /*keepdim=*/true).sqrt();
  // A little less than needed, which is more than rounding brings.
  const torch::Tensor shortened = values * (bound * (1 - 0x1p-40) / norms);
  return torch::where(norms <= bound, values,
                      torch::where(norms.isfinite(), shortened, torch::zeros_like(values)));
}

torch::Tensor ask(const Vote& vote, std::int64_t first, const Batch& examples, Message& memory,
                  double bound) {
  const Voters voters{.first = first, .examples = examples, .memory = memory};
  torch::Tensor answers = clipped(vote(voters), voters.size(), bound);
  check_memory(memory, voters.size());
  return answers;
}

// Of some voters: an answer that differs when its voter is asked alone looks at others, and the noise hides
// one voter only.
void check_independent(const Vote& vote, std::int64_t first, const Batch& examples, const Message& before,
                       const torch::Tensor& answers, double bound) {
  const std::int64_t last = answers.size(0) - 1;
  if (last < 2) return;
  int differ = 0;
  for (const std::int64_t voter : {std::int64_t{0}, last / 2, last}) {
    const Batch own{examples.inputs.narrow(0, voter, 1), examples.targets.narrow(0, voter, 1)};
    Message memory = rows_of(before, voter, 1);
    const torch::Tensor alone = ask(vote, first + voter, own, memory, bound);
    const torch::Tensor together = answers.narrow(0, voter, 1);
    const bool same = alone.sizes() == together.sizes() &&
                      (alone - together).norm().item<double>() <= kTolerance * together.norm().item<double>();
    if (!same) ++differ;
  }
  if (differ < 2) return;
  throw Error(Complaint{.found = "a voter answers otherwise when it is asked alone, so one record can move "
                                 "more than the vote of its own part",
                        .remedy = "Let row i of a vote depend on row i of Voters::examples and "
                                  "Voters::memory alone"});
}

}  // namespace

Voting::Voting(std::int64_t voters, std::int64_t block_size, bool keeps_examples, Source source)
    : source_(std::move(source)), keeps_examples_(keeps_examples) {
  for (std::int64_t begin = 0; begin < voters; begin += block_size)
    blocks_.push_back(
        {.begin = begin, .end = std::min(begin + block_size, voters), .examples = {}, .memory = {}});
}

Voting Voting::of_parts(std::int64_t parts, Source source, const Message& remembered) {
  Voting voting(parts, kPartsInBlock, true, std::move(source));
  check_memory(remembered, parts);
  for (Block& block : voting.blocks_)
    block.memory = rows_of(remembered, block.begin, block.end - block.begin);
  return voting;
}

Voting Voting::of_examples(std::int64_t examples, Source source) {
  return {examples, kExamplesInBlock, false, std::move(source)};
}

torch::Tensor Voting::sum_of(Block& block, const Vote& vote, double bound) const {
  Batch examples = block.examples;
  if (!examples.inputs.defined()) examples = source_(block.begin, block.end);
  if (keeps_examples_) block.examples = examples;
  Message memory = keeps_examples_ ? block.memory : Message();
  const bool try_alone = !independent_ && block.begin == 0;
  const Message before = try_alone ? rows_of(memory, 0, block.end - block.begin) : Message();
  const torch::Tensor answers = ask(vote, block.begin, examples, memory, bound);
  if (try_alone) check_independent(vote, block.begin, examples, before, answers, bound);
  block.memory = std::move(memory);
  return answers.sum(0);
}

torch::Tensor Voting::sum(const Vote& vote, double bound, const WorkPool& pool) {
  std::vector<torch::Tensor> sums(blocks_.size());
  pool.for_each(blocks_.size(),
                [&](std::size_t block) { sums[block] = sum_of(blocks_[block], vote, bound); });
  independent_ = true;
  torch::Tensor total = sums.front();
  for (std::size_t block = 1; block < sums.size(); ++block) {
    if (sums[block].sizes() != total.sizes()) throw Bug("voters answered with different numbers of votes");
    total.add_(sums[block]);
  }
  return total;
}

Message Voting::memory() const {
  Message all;
  for (const Message::Entry& entry : blocks_.front().memory.entries()) {
    const Key<torch::Tensor> key{entry.name.c_str()};
    std::vector<torch::Tensor> rows;
    for (const Block& block : blocks_) rows.push_back(block.memory[key]);
    all.put(key, torch::cat(rows));
  }
  return all;
}

}  // namespace fedarena
