#include "harness/oracle/metered_oracle.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "fedarena/base/text.hpp"

#include "harness/oracle/response_mechanism.hpp"
#include "harness/sdk/plugin_visit.hpp"

namespace fedarena {
namespace {

// Of a client's noise streams in a round; number 0 noises its gradients, or its message.
constexpr std::uint64_t kResponseStream = 1;

// Of the streams that order examples before the first round; number 0 halves shards of the policy "label".
constexpr std::uint64_t kPartsStream = 1;

// Of those in a round; number 0 draws its batches.
constexpr std::uint64_t kTrialsStream = 2;

// Of votes: squares of what is longer or shorter are far from what numbers can hold, and so is noise.
constexpr double kLeastBound = 1e-30, kLargestBound = 1e30;

// Names what voters remember, in what their client does: "voters/200/weights".
constexpr std::string_view kVoters = "voters/";

std::string prefix_of(std::int64_t parts) { return fmt::format("{}{}/", kVoters, parts); }

[[noreturn]] void refuse_query(const std::string& what, std::string allowed) {
  throw Error(Complaint{.found = "the algorithm asks the oracle for " + what, .allowed = std::move(allowed)});
}

}  // namespace

MeteredOracle::MeteredOracle(const Setting& setting, torch::Tensor positions, const Streams& streams)
    : setting_(setting),
      positions_(std::move(positions)),
      held_(positions_),
      streams_(streams),
      trials_(streams(Purpose::kBatches, kTrialsStream)) {}

Params MeteredOracle::gradient(const Params& at, const Query& query) {
  Params gradient = answer(at, query);
  if (see_) {
    const FreshTorchState while_private;
    see_(at, gradient);
  }
  return gradient;
}

void MeteredOracle::refuse_out_of_turn(const char* what) const {
  if (closed_ != nullptr) {
    throw Error(Complaint{.found = fmt::format("the oracle is asked for {} {}", what, closed_),
                          .remedy = "It answers in train(), before that returns, and nowhere else"});
  }
  if (casting_votes_) {
    throw Error(
        Complaint{.found = fmt::format("the oracle is asked for {} inside of a vote", what),
                  .allowed = "what votes answer, and nothing else, while private examples are in their hands",
                  .remedy = "Ask before noisy_sum() or after it has returned"});
  }
  if (std::this_thread::get_id() == thread_) return;
  throw Error(Complaint{.found = fmt::format("the oracle is asked for {} in a thread of the plugin's", what),
                        .allowed = "the thread that the harness calls the algorithm in",
                        .remedy = "One answer is drawn and written down after the other: ask for all of them "
                                  "there, and hand them to other threads"});
}

void MeteredOracle::refuse_late_look() const {
  if (!is_late(look_, accesses_.list())) return;
  throw Error(
      Complaint{.found = "an algorithm that states a plan (access_plan) looks at examples exactly for the "
                         "first time after noised answers, which may have decided that it does",
                .allowed = "an exact access before the first noised answer, or none",
                .remedy = "Ask for it first, in the first round. Without a plan it may come at any time, "
                          "and tables say that epsilon rests on no answer having had a say"});
}

void MeteredOracle::check_batch_size(std::int64_t batch_size) {
  if (batch_size < 0)
    refuse_query(fmt::format("batches of {} examples", batch_size), "0 (the shard) or more");
}

void MeteredOracle::check_votes(const VoteQuery& query) {
  if (query.parts < 0)
    refuse_query(fmt::format("votes of {} parts", query.parts), "0 (each example) or more");
  if (query.votes < 1) refuse_query(fmt::format("{} votes", query.votes), "1 or more");
  if (query.numbers < 1) refuse_query(fmt::format("votes of {} numbers", query.numbers), "1 or more");
  if (!(query.bound >= kLeastBound && query.bound <= kLargestBound))
    refuse_query(fmt::format("votes of norm {}", query.bound),
                 fmt::format("a bound from {} to {}", kLeastBound, kLargestBound));
}

void MeteredOracle::check(const Query& query) const {
  refuse_out_of_turn("a gradient");
  check_batch_size(query.batch_size);
  const auto& shape = setting_.model.architecture().input_shape;
  if (query.augmentation == nullptr || *query.augmentation == Augmentation() || shape.size() == 3) return;
  throw Error(Complaint{
      .found = fmt::format("the algorithm augments images, but the model's inputs are of shape [{}]",
                           fmt::join(shape, ", ")),
      .allowed = "[channels, height, width]",
      .remedy = "Set the algorithm's augmentation to \"none\", or choose images and a model for them."});
}

BatchSource MeteredOracle::source(const torch::Tensor& positions, const Query& query) const {
  return [this, positions, augmentation = query.augmentation](std::int64_t begin, std::int64_t end) {
    if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    Batch batch = read(positions.narrow(0, begin, end - begin));
    if (augmentation != nullptr) batch.inputs = (*augmentation)(batch.inputs);
    return batch;
  };
}

std::int64_t MeteredOracle::steps_per_epoch(std::int64_t batch_size) const {
  check_batch_size(batch_size);
  if (batch_size == 0) return 1;
  return size() / batch_size + (size() % batch_size > 0 ? 1 : 0);
}

double MeteredOracle::loss(const Params& at) {
  refuse_out_of_turn("a loss");
  note(ExactAccess{"loss"});
  if (held_.size(0) == 0) return 0;
  const Score sums = setting_.engine.evaluate(at, held_.size(0), source(held_));
  return sums.loss_sum / static_cast<double>(sums.examples);
}

torch::Tensor MeteredOracle::label_counts() {
  refuse_out_of_turn("label counts");
  note(label_count_access());
  if (setting_.classes == 0) throw Error::of("a regression has no label counts");
  return count_labels();
}

torch::Tensor MeteredOracle::count_labels() const {
  return setting_.examples.targets.index_select(0, positions_).bincount({}, setting_.classes);
}

torch::Tensor MeteredOracle::held_classes() {
  refuse_out_of_turn("classes");
  note(class_access());
  if (setting_.classes == 0) throw Error::of("a regression has no classes");
  return count_labels().nonzero().flatten();
}

Batch MeteredOracle::exact_batch() {
  refuse_out_of_turn("examples");
  note(ExactAccess{"examples"});
  return read(held_);
}

torch::Tensor MeteredOracle::randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                                 double epsilon) {
  refuse_out_of_turn("randomised responses");
  const FreshTorchState while_private;
  if (setting_.classes == 0) throw Error::of("a regression has no labels that randomised response answers");
  const auto release = ResponseRelease::of_synthetic(setting_.classes, epsilon, accesses_);
  if (!responses_) responses_ = make_noise_source(setting_.noise_source, streams_, kResponseStream);
  return release.answers(labels, prior, *responses_);
}

torch::Tensor MeteredOracle::cast(Voting& voting, const Vote& vote, const VoteQuery& query) {
  const VoteSeal seal(casting_votes_, state_, observed_);
  return attempted([&] {
    torch::Tensor sum = voting.sum(vote, query, setting_.engine.pool(), trials_);
    seal.check();
    return sum;
  });
}

void MeteredOracle::refuse_caught_failure() const {
  if (failures_ == 0) return;
  throw Error(Complaint{.found = "the algorithm went on after an answer of the oracle had failed",
                        .allowed = "a failure that ends the run: that examples made a vote or a gradient "
                                   "fail, and how, passes no mechanism",
                        .remedy = "Let what noisy_sum() and gradient() throw leave train()"});
}

torch::Tensor MeteredOracle::noisy_sum(const Vote& vote, const VoteQuery& asked) {
  refuse_out_of_turn("votes");
  // What votes change in the original moves neither clipping nor noise.
  const VoteQuery query = asked;
  check_votes(query);
  if (!vote) refuse_query("a vote that is an empty function", "a function of voters");
  if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
  const FreshTorchState while_private;
  if (size() == 0 || size() < query.parts) {
    throw Error(Complaint{
        .found = fmt::format("a client has {} examples, too few for {} that vote", size(),
                             query.parts > 0 ? counted(query.parts, "part") : "any"),
        .remedy = "Ask for fewer parts (the algorithm's key says how many), or deal clients more examples"});
  }
  torch::Tensor votes;
  if (query.parts > 0) {
    votes = cast(parts(query), vote, query);
  } else if (held_.size(0) == 0) {  // of canaries that are out, which must not be told from others
    votes = torch::zeros({query.votes, query.numbers}, setting_.model.options().dtype(torch::kFloat64));
  } else {
    const auto singly = [this](std::int64_t begin, std::int64_t end) {
      const Batch batch = read(held_.narrow(0, begin, end - begin));
      return Batch{batch.inputs.unsqueeze(1), batch.targets.unsqueeze(1)};
    };
    Voting voting = Voting::of_examples(held_.size(0), singly);
    votes = cast(voting, vote, query);
  }
  (query.parts > 0 ? asked_.part_votes : asked_.votes) += votes.size(0);
  release(votes, query);
  return votes;
}

Batch MeteredOracle::examples_of_parts(const torch::Tensor& positions) const {
  if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
  const torch::Tensor all = positions.flatten();
  Batch batch = read(all);
  const auto* position = all.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < all.size(0); ++row) {
    if (!leaves_out(position[row])) continue;
    batch.inputs.select(0, row).zero_();
    batch.targets.select(0, row).zero_();
  }
  return {batch.inputs.unflatten(0, positions.sizes()), batch.targets.unflatten(0, positions.sizes())};
}

Voting& MeteredOracle::parts(const VoteQuery& query) {
  const Electorate electorate(query.parts, query.keep);
  const auto found = votings_.find(electorate);
  if (found != votings_.end()) return found->second;
  const std::int64_t examples = size() / query.parts;
  Stream order = streams_.in_round(0)(Purpose::kBatches, kPartsStream);
  const torch::Tensor dealt = positions_.index_select(0, tensor_of(order.permutation(size())))
                                  .narrow(0, 0, query.parts * examples)
                                  .view({query.parts, examples});
  const std::string prefix = prefix_of(query.parts);
  Message own;
  for (const Message::Entry& entry : remembered_.entries()) {
    if (query.keep && entry.name.starts_with(prefix))
      own.put_entry({entry.name.substr(prefix.size()), entry.content});
  }
  const auto own_parts = [this, dealt](std::int64_t begin, std::int64_t end) {
    return examples_of_parts(dealt.narrow(0, begin, end - begin));
  };
  return votings_.try_emplace(electorate, Voting::of_parts(query.parts, own_parts, own)).first->second;
}

void MeteredOracle::release(const torch::Tensor& votes, const VoteQuery& /*query*/) {
  for (std::int64_t vote = 0; vote < votes.size(0); ++vote) note(ExactAccess{"votes"});
}

std::int64_t MeteredOracle::votes_left(const VoteQuery& query) const {
  check_votes(query);
  return std::numeric_limits<std::int64_t>::max();
}

std::int64_t MeteredOracle::gradients_left(std::int64_t batch_size) const {
  check_batch_size(batch_size);
  return std::numeric_limits<std::int64_t>::max();
}

void MeteredOracle::recall(Message& state) {
  Message own;
  for (const Message::Entry& entry : state.entries())
    (entry.name.starts_with(kVoters) ? remembered_ : own).put_entry(entry);
  state = std::move(own);
}

void MeteredOracle::remember(Message& state) const {
  for (const Message::Entry& entry : state.entries()) {
    if (entry.name.starts_with(kVoters))
      throw Error(Complaint{
          .found = fmt::format("\"{}\" in a client's state has a name of what voters remember", entry.name),
          .remedy =
              fmt::format("Call it otherwise: names that begin with \"{}\" are the oracle's", kVoters)});
  }
  for (const auto& [electorate, voting] : votings_) {
    const auto [parts, keeps] = electorate;
    if (!keeps) continue;
    const Message memory = voting.memory();
    for (const Message::Entry& entry : memory.entries())
      state.put_entry({prefix_of(parts) + entry.name, entry.content});
  }
  for (const Message::Entry& entry : remembered_.entries()) {
    const bool asked = std::ranges::any_of(votings_, [&](const auto& one) {
      return one.first.second && entry.name.starts_with(prefix_of(one.first.first));
    });
    if (!asked) state.put_entry(entry);
  }
}

}  // namespace fedarena
