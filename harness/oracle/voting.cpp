#include "harness/oracle/voting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/ranges.h>

#include "harness/sdk/plugin_visit.hpp"
#include "harness/sdk/sendable.hpp"

namespace fedarena {
namespace {

// As many as batched products of small networks gain from, and as many as fit into a cache.
constexpr std::int64_t kPartsInBlock = 32;
constexpr std::int64_t kExamplesInBlock = 256;

// Of the length of an answer. Rounding, which differs with the size of a batch, may turn some of many signs
// or ranks in it, each voter's elsewhere: of so many voters, the square root adds up.
constexpr double kTolerance = 0.1, kToleranceOfBlock = 0.6;
// Of a query's bound: what rounding brings to a voter, and what all voters of a block may have in common.
constexpr double kSlack = 1e-5, kShared = 0.5;

constexpr std::int64_t kAskedAlone = 3;

Message rows_of(const Message& memory, std::int64_t begin, std::int64_t count) {
  Message rows;
  for (const Message::Entry& entry : memory.entries())
    rows.put_entry({entry.name, std::get<torch::Tensor>(entry.content).narrow(0, begin, count).clone()});
  return rows;
}

// Kept under longer names, in the state of a client, which may have 255 characters.
constexpr std::size_t kLongestName = 200;

void check_memory(const Message& memory, std::int64_t voters) {
  check_entries(memory, "what voters remember", kLongestName);
  for (const Message::Entry& entry : memory.entries()) {
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (tensor == nullptr || tensor->dim() == 0 || tensor->size(0) != voters)
      throw Bug(fmt::format("\"{}\", which voters remember, is not a tensor with a row for each of {}",
                            entry.name, voters));
  }
}

void check_shape(const torch::Tensor& answers, std::int64_t voters, const VoteQuery& query) {
  const std::vector<std::int64_t> due{voters, query.votes, query.numbers};
  if (unsendable(answers).empty() && answers.is_floating_point() && answers.sizes() == at::IntArrayRef(due))
    return;
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

// Bits that compare as equal could be told apart later: those of zeros, and of what is not a number.
void make_plain(Message& memory) {
  const Message made = memory;
  for (const Message::Entry& entry : made.entries()) {
    const auto& tensor = std::get<torch::Tensor>(entry.content);
    if (!tensor.is_floating_point()) continue;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    memory.put_entry({entry.name, torch::where(tensor.isnan(), torch::full_like(tensor, nan), tensor) + 0.0});
  }
}

torch::Tensor clipped(const torch::Tensor& answers, double bound) {
  // A copy, which the vote cannot change.
  const torch::Tensor values = answers.detach().to(torch::kFloat64, /*non_blocking=*/false, /*copy=*/true);
  const torch::Tensor norms = values.square().sum(2, /*keepdim=*/true).sqrt();
  // A little less than needed, which is more than rounding brings.
  const torch::Tensor shortened = values * (bound * (1 - 0x1p-40) / norms);
  return torch::where(norms <= bound, values,
                      torch::where(norms.isfinite(), shortened, torch::zeros_like(values)));
}

torch::Tensor ask(const Vote& vote, std::int64_t first, const Batch& examples, Message& memory,
                  const VoteQuery& query) {
  // A copy, because the vote may write to it, and the next one and the check below read the same examples.
  const Batch own{examples.inputs.clone(), examples.targets.clone()};
  const Voters voters{.first = first, .examples = own, .memory = memory};
  const torch::Tensor answers = vote(voters);
  check_shape(answers, voters.size(), query);
  check_memory(memory, voters.size());
  make_plain(memory);
  return clipped(answers, query.bound);
}

// What one voter says, or remembers, when it is asked alone and among others: one row each.
using Twice = std::pair<torch::Tensor, torch::Tensor>;

// One row for each vote. What is not a number in both is alike, and in one of them as far apart as can be.
torch::Tensor difference(const Twice& voter) {
  constexpr double kFar = 1e150;  // its square is a number
  const torch::Tensor alone = voter.first.to(torch::kFloat64), among = voter.second.to(torch::kFloat64);
  const torch::Tensor equal = alone.eq(among).logical_or(alone.isnan().logical_and(among.isnan()));
  const torch::Tensor apart = (alone - among).nan_to_num(kFar).clamp(-kFar, kFar);
  return torch::where(equal, torch::zeros_like(alone), apart);
}

double finite_length(const torch::Tensor& values) {
  const torch::Tensor all = values.to(torch::kFloat64);
  return torch::where(all.isfinite(), all, torch::zeros_like(all)).norm().item<double>();
}

// Whether some of so many voters differ from what they are alone by more than rounding makes of it. Rounding
// turns each one's numbers elsewhere; what moves two of them alike moves all, and a sum by as much as all of
// them. `bound`: of each vote; 0 where there is none, as of what is remembered, which may be zero but for
// rounding.
bool look_at_others(const std::vector<Twice>& tried, std::int64_t voters, double bound) {
  const auto count = static_cast<double>(voters);
  const double tolerance = std::min(kTolerance, kToleranceOfBlock / std::sqrt(count));
  int otherwise = 0;
  bool shared = false;
  std::vector<torch::Tensor> before;
  for (const Twice& voter : tried) {
    const torch::Tensor apart = difference(voter);
    const double length = finite_length(voter.second), scale = bound > 0 ? bound : std::max(length, 1.0);
    if (apart.norm().item<double>() > kSlack * scale + tolerance * length) ++otherwise;
    for (const torch::Tensor& other : before) {
      const double alike = (apart * other).sum(1).max().item<double>();
      shared = shared || (alike > 0 && count * std::sqrt(alike) > kShared * scale);
    }
    before.push_back(apart);
  }
  return shared || otherwise > 1;
}

// Of each entry, the type and shape of a row.
auto kinds_of(const Message& memory) {
  std::map<std::string, std::pair<torch::ScalarType, std::vector<std::int64_t>>> kinds;
  for (const Message::Entry& entry : memory.entries()) {
    const auto& tensor = std::get<torch::Tensor>(entry.content);
    kinds[entry.name] = {tensor.scalar_type(), tensor.sizes().slice(1).vec()};
  }
  return kinds;
}

[[noreturn]] void refuse_to_look(const char* otherwise) {
  throw Error(Complaint{
      .found =
          fmt::format("a voter {} otherwise when it is asked alone, so one record can move more than the "
                      "vote of its own part",
                      otherwise),
      .remedy =
          "Let row i of a vote, and of what it puts into Voters::memory, depend on row i of "
          "Voters::examples and Voters::memory alone. Of a model that diverges, or of inputs far from 1, "
          "differences are rounding, which does not: standardise them, or lower the rate"});
}

// Asks each of them alone, with what it remembers, which becomes what it remembers then.
void check_answers(std::map<std::int64_t, Message>& alone, const Vote& vote, std::int64_t first,
                   const Batch& examples, const torch::Tensor& answers, const VoteQuery& query) {
  std::vector<Twice> said;
  for (auto& [voter, memory] : alone) {
    const Batch own{examples.inputs.narrow(0, voter, 1), examples.targets.narrow(0, voter, 1)};
    said.emplace_back(ask(vote, first + voter, own, memory, query)[0], answers[voter]);
  }
  if (look_at_others(said, answers.size(0), query.bound)) refuse_to_look("answers");
}

// What a voter takes from others into its memory now it could answer with later.
void check_memories(const std::map<std::int64_t, Message>& alone, const Message& all, std::int64_t voters) {
  std::map<std::string, std::vector<Twice>> remembered;
  for (const auto& [voter, memory] : alone) {
    const Message among = rows_of(all, voter, 1);
    if (kinds_of(memory) != kinds_of(among)) refuse_to_look("remembers");
    for (const Message::Entry& entry : among.entries()) {
      const Key<torch::Tensor> key{entry.name.c_str()};
      remembered[entry.name].emplace_back(memory[key].flatten().unsqueeze(0),
                                          among[key].flatten().unsqueeze(0));
    }
  }
  for (const auto& [name, twice] : remembered) {
    if (look_at_others(twice, voters, 0)) refuse_to_look("remembers");
  }
}

// The bytes of all tensors that are fit to be kept, one after the other.
std::string numbers_of(const Message& state) {
  std::string bytes;
  for (const Message::Entry& entry : state.entries()) {
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    const auto* params = std::get_if<Params>(&entry.content);
    if (tensor == nullptr && params != nullptr) tensor = &params->flat();
    if (tensor == nullptr || !unsendable(*tensor).empty()) continue;
    const torch::Tensor own = tensor->detach().cpu().contiguous();
    bytes.append(static_cast<const char*>(own.data_ptr()), own.nbytes());
  }
  return bytes;
}

}  // namespace

bool VoteTrials::cast() {
  if (++votes_ < next_) return false;
  next_ = votes_ + 1 + draws_.below(votes_);
  return true;
}

std::vector<std::int64_t> VoteTrials::voters(std::int64_t voters) {
  return draws_.sample_without_replacement(voters, std::min(voters, kAskedAlone));
}

Voting::Voting(std::int64_t voters, std::int64_t block_size, bool keeps_examples, Source source)
    : source_(std::move(source)), keeps_examples_(keeps_examples) {
  for (std::int64_t begin = 0; begin < voters; begin += block_size)
    blocks_.push_back({.begin = begin,
                       .end = std::min(begin + block_size, voters),
                       .examples = {},
                       .memory = {},
                       .tried = {}});
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

torch::Tensor Voting::sum_of(Block& block, const Vote& vote, const VoteQuery& query,
                             const std::vector<std::int64_t>& alone) const {
  Batch examples = block.examples;
  if (!examples.inputs.defined()) examples = source_(block.begin, block.end);
  if (keeps_examples_) block.examples = examples;
  Message memory = keeps_examples_ ? block.memory : Message();
  std::map<std::int64_t, Message> tried;
  for (const std::int64_t voter : alone) tried[voter] = rows_of(memory, voter, 1);
  const torch::Tensor answers = ask(vote, block.begin, examples, memory, query);
  check_answers(block.tried, vote, block.begin, examples, answers, query);
  check_answers(tried, vote, block.begin, examples, answers, query);
  check_memories(tried, memory, answers.size(0));
  block.tried.clear();
  if (keeps_examples_) block.tried = std::move(tried);
  block.memory = std::move(memory);
  return answers.sum(0);
}

torch::Tensor Voting::sum(const Vote& vote, const VoteQuery& query, const WorkPool& pool,
                          VoteTrials& trials) {
  std::vector<torch::Tensor> sums(blocks_.size());
  // On whichever thread, it is the plugin's code.
  const Vote visited = [&vote, where = PluginVisit::current()](const Voters& voters) {
    const PluginVisit visit(where);
    return vote(voters);
  };
  const std::size_t tried = trials.cast() ? trials.block(blocks_.size()) : blocks_.size();
  std::vector<std::int64_t> alone;
  if (tried < blocks_.size()) alone = trials.voters(blocks_[tried].end - blocks_[tried].begin);
  pool.for_each(blocks_.size(), [&](std::size_t block) {
    const FreshTorchState while_private;
    sums[block] =
        sum_of(blocks_[block], visited, query, block == tried ? alone : std::vector<std::int64_t>());
  });
  check_alike();
  torch::Tensor total = sums.front();
  for (std::size_t block = 1; block < sums.size(); ++block) total.add_(sums[block]);
  return total;
}

void Voting::check_alike() const {
  const auto due = kinds_of(blocks_.front().memory);
  const auto like_the_first = [&](const Block& block) { return kinds_of(block.memory) == due; };
  if (!keeps_examples_ || std::ranges::all_of(blocks_, like_the_first)) return;
  throw Error(Complaint{
      .found = "some voters remember other tensors than others do, by name, type or shape",
      .allowed = "the same for all, since what there is to remember would tell of examples",
      .remedy =
          "Put the same entries into Voters::memory whoever the voters are, padded where lengths differ"});
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
  if (state_ == nullptr) return;
  before_.emplace(*state_);
  numbers_ = numbers_of(*state_);
}

VoteSeal::~VoteSeal() {
  casting_votes_ = false;
  if (observed_ != nullptr) observed_->closed_ = false;
}

void VoteSeal::check() const {
  if (observed_ != nullptr && !observed_->closed_) {
    throw Error(
        Complaint{.found = "the client's observations are replaced inside of a vote",
                  .allowed = "what votes answer, and nothing else, while private examples are in their hands",
                  .remedy = "Record what the oracle answered, after noisy_sum() has returned"});
  }
  if (!before_) return;
  const std::string name = before_->changed(*state_);
  if (name.empty() && numbers_of(*state_) == numbers_) return;
  throw Error(Complaint{
      .found = name.empty() ? "the client's state is written to inside of a vote"
                            : fmt::format("\"{}\" in the client's state is put inside of a vote", name),
      .allowed = "what votes answer, and nothing else, while private examples are in their hands",
      .remedy = "What voters remember belongs into Voters::memory"});
}

}  // namespace fedarena
