#include "harness/oracle/voting.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "harness/sdk/plugin_visit.hpp"

namespace fedarena {
namespace {

// As many as batched products of small networks gain from, and as many as fit into a cache.
constexpr std::int64_t kPartsInBlock = 32;
constexpr std::int64_t kExamplesInBlock = 256;

// Of the length of an answer. Rounding, which differs with the size of a batch, may turn some of many signs
// or ranks in it.
constexpr double kTolerance = 0.1;
// Of a query's bound.
constexpr double kSlack = 1e-5;

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

void check_shape(const torch::Tensor& answers, std::int64_t voters, const VoteQuery& query) {
  const std::vector<std::int64_t> due{voters, query.votes, query.numbers};
  if (answers.defined() && answers.is_floating_point() && answers.sizes() == at::IntArrayRef(due)) return;
  throw Error(Complaint{
      .found = fmt::format("{} voters answer with {}", voters,
                           answers.defined()
                               ? fmt::format("{} of shape [{}]", torch::toString(answers.scalar_type()),
                                             fmt::join(answers.sizes(), ", "))
                               : "an undefined tensor"),
      .allowed = fmt::format("floating numbers of shape [{}], as the query says: [voters, votes, numbers]",
                             fmt::join(due, ", ")),
      .remedy = "The shape of a vote passes no mechanism: set VoteQuery::votes and numbers beforehand"});
}

torch::Tensor clipped(const torch::Tensor& answers, double bound) {
  const torch::Tensor values = answers.detach().to(torch::kFloat64);
  const torch::Tensor norms = values.square().sum(2, /*keepdim=*/true).sqrt();
  // A little less than needed, which is more than rounding brings.
  const torch::Tensor shortened = values * (bound * (1 - 0x1p-40) / norms);
  return torch::where(norms <= bound, values,
                      torch::where(norms.isfinite(), shortened, torch::zeros_like(values)));
}

torch::Tensor ask(const Vote& vote, std::int64_t first, const Batch& examples, Message& memory,
                  const VoteQuery& query) {
  const Voters voters{.first = first, .examples = examples, .memory = memory};
  const torch::Tensor answers = vote(voters);
  check_shape(answers, voters.size(), query);
  check_memory(memory, voters.size());
  return clipped(answers, query.bound);
}

// But for rounding, which may be all that a small answer is: a difference of losses, say. What is not a
// number in both is alike. `slack`: norms of differences that do not count.
bool alike(const torch::Tensor& left, const torch::Tensor& right, double slack = 0) {
  if (left.sizes() != right.sizes()) return false;
  const torch::Tensor one = left.to(torch::kFloat64), other = right.to(torch::kFloat64);
  const torch::Tensor zero = torch::zeros_like(one);
  const torch::Tensor equal = one.eq(other).logical_or(one.isnan().logical_and(other.isnan()));
  const double apart = torch::where(equal, zero, one - other).norm().item<double>();
  return apart <= slack + kTolerance * torch::where(other.isfinite(), other, zero).norm().item<double>();
}

// `together`: of all voters, the one at `row` among them.
bool alike(const Message& alone, const Message& together, std::int64_t row) {
  if (alone.entries().size() != together.entries().size()) return false;
  return std::ranges::all_of(alone.entries(), [&](const Message::Entry& entry) {
    const Key<torch::Tensor> key{entry.name.c_str()};
    return together.contains(entry.name) &&
           alike(std::get<torch::Tensor>(entry.content), together[key].narrow(0, row, 1));
  });
}

// Of some voters: one whose answer, or memory, differs when it is asked alone looks at others, and the noise
// hides one voter only. What it takes from others into its memory now it could answer with later.
void check_independent(const Vote& vote, std::int64_t first, const Batch& examples, const Message& before,
                       const Message& after, const torch::Tensor& answers, const VoteQuery& query) {
  const std::int64_t last = answers.size(0) - 1;
  int answer_otherwise = 0, remember_otherwise = 0;
  for (const std::int64_t voter : std::set{std::int64_t{0}, last / 2, last}) {
    const Batch own{examples.inputs.narrow(0, voter, 1), examples.targets.narrow(0, voter, 1)};
    Message memory = rows_of(before, voter, 1);
    const torch::Tensor alone = ask(vote, first + voter, own, memory, query);
    if (!alike(alone, answers.narrow(0, voter, 1), kSlack * query.bound)) ++answer_otherwise;
    if (!alike(memory, after, voter)) ++remember_otherwise;
  }
  if (answer_otherwise < 2 && remember_otherwise < 2) return;
  throw Error(Complaint{
      .found =
          fmt::format("a voter {} otherwise when it is asked alone, so one record can move more than the "
                      "vote of its own part",
                      answer_otherwise < 2 ? "remembers" : "answers"),
      .remedy = "Let row i of a vote, and of what it puts into Voters::memory, depend on row i of "
                "Voters::examples and Voters::memory alone"});
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

torch::Tensor Voting::sum_of(Block& block, const Vote& vote, const VoteQuery& query) const {
  Batch examples = block.examples;
  if (!examples.inputs.defined()) examples = source_(block.begin, block.end);
  if (keeps_examples_) block.examples = examples;
  Message memory = keeps_examples_ ? block.memory : Message();
  const bool try_alone = votes_ + 1 == next_try_ && &block == &blocks_[tries_ % blocks_.size()];
  const Message before = try_alone ? rows_of(memory, 0, block.end - block.begin) : Message();
  const torch::Tensor answers = ask(vote, block.begin, examples, memory, query);
  if (try_alone) check_independent(vote, block.begin, examples, before, memory, answers, query);
  block.memory = std::move(memory);
  return answers.sum(0);
}

torch::Tensor Voting::sum(const Vote& vote, const VoteQuery& query, const WorkPool& pool) {
  std::vector<torch::Tensor> sums(blocks_.size());
  // On whichever thread, it is the plugin's code.
  const Vote visited = [&vote, where = PluginVisit::current()](const Voters& voters) {
    const PluginVisit visit(where);
    return vote(voters);
  };
  pool.for_each(blocks_.size(),
                [&](std::size_t block) { sums[block] = sum_of(blocks_[block], visited, query); });
  if (++votes_ == next_try_) {
    next_try_ += std::exchange(last_try_, next_try_);
    ++tries_;
  }
  torch::Tensor total = sums.front();
  for (std::size_t block = 1; block < sums.size(); ++block) total.add_(sums[block]);
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

VoteSeal::VoteSeal(bool& casting_votes, const Message* state, Observations* observed)
    : casting_votes_(casting_votes), state_(state), observed_(observed) {
  casting_votes_ = true;
  if (observed_ != nullptr) observed_->closed_ = true;
  if (state_ != nullptr) before_.emplace(*state_);
}

VoteSeal::~VoteSeal() {
  casting_votes_ = false;
  if (observed_ != nullptr) observed_->closed_ = false;
}

void VoteSeal::check() const {
  const std::string name = before_ ? before_->changed(*state_) : "";
  if (name.empty()) return;
  throw Error(
      Complaint{.found = fmt::format("\"{}\" in the client's state is put inside of a vote", name),
                .allowed = "what votes answer, and nothing else, while private examples are in their hands",
                .remedy = "What voters remember belongs into Voters::memory"});
}

}  // namespace fedarena
