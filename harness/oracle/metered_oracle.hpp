#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/algorithm.hpp"

#include "datasets/dataset.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/example_reader.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/random_source.hpp"
#include "harness/oracle/voting.hpp"

namespace fedarena {

/// A client's private examples in one round. Every access is written down, exact ones as such; how a gradient
/// is answered is what policies differ in.
class MeteredOracle : public Oracle {
 public:
  /// What every client of a run shares, but for `skew` and `pays`.
  struct Setting {
    const Examples& examples;
    const ExampleReader& reader;
    const Model& model;
    const GradientEngine& engine;
    const std::atomic<bool>& stop;  ///< set on Ctrl-C; gradients then throw Interrupted
    std::int64_t classes;
    InputSkew skew = {};                      ///< of the one client that this oracle is for
    std::string noise_source = kStreamNoise;  ///< of randomised responses
    /// Whether targets are randomised responses, which are paid for: whatever is computed from them is
    /// post-processing, and costs no more.
    bool released_labels = false;
    /// Whether the client's budget pays for those accesses of the round that begins; empty: there is none.
    std::function<bool(const std::vector<Access>& of_round)> pays = {};
  };

  virtual ~MeteredOracle() = default;

  Params gradient(const Params& at, const Query& query) final;
  std::int64_t steps_per_epoch(std::int64_t batch_size) const override;
  double loss(const Params& at) override;
  torch::Tensor label_counts() override;
  torch::Tensor held_classes() override;
  Batch exact_batch() override;
  torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                    double epsilon) override;
  torch::Tensor noisy_sum(const Vote& vote, const VoteQuery& asked) override;
  std::int64_t votes_left(const VoteQuery& query) const override;
  std::int64_t gradients_left(std::int64_t batch_size) const override;
  std::int64_t size() const override { return positions_.size(0); }

  /// From then on it answers nobody; `when` says why, as the end of "the oracle is asked for a gradient". Who
  /// makes a plan is told of sizes and budgets alone, and who has trained may have left something behind that
  /// asks later, such as the deleter of a tensor, when all that was asked for is written down.
  void close(const char* when) { closed_ = when; }
  void open() { closed_ = nullptr; }
  /// The client has a plan, which says nothing of exact accesses: they come in time or end the run. To be
  /// called before anything is asked.
  void hold_to_plan(FirstLook look) { look_ = look; }
  /// Takes what voters remember out of what their client remembers; to be called before anything is asked.
  void recall(Message& state);
  /// Whether it is casting votes; changes in the client's thread alone.
  const bool& casting_votes() const { return casting_votes_; }
  /// What the client has of its own, which votes must leave as it is; to be called before anything is asked.
  /// Both must outlive this.
  void seal_in_votes(const Message& state, Observations& observed) {
    state_ = &state;
    observed_ = &observed;
  }
  /// Has `see` called with each gradient that is answered from then on, and where it was asked for.
  void watch(std::function<void(const Params& at, const Params& gradient)> see) { see_ = std::move(see); }
  /// Puts it back, as it is now. Error where the client's own entries have its names.
  void remember(Message& state) const;

  /// Error where an answer failed and whoever asked for it went on: to be called when the algorithm is done.
  void refuse_caught_failure() const;

  const RoundAccesses& accesses() const { return accesses_; }
  /// The same as an algorithm plans it.
  const AccessPlan& asked() const { return asked_; }
  /// How so many accesses would be written down, of which none is exact.
  virtual std::vector<Access> noised(const AccessPlan& /*plan*/) const { return {}; }
  /// Examples whose gradient was taken.
  std::int64_t gradient_examples() const { return gradient_examples_; }
  /// What the answers gave away of the client's gradient canaries.
  virtual std::vector<double> canary_scores() const { return {}; }
  /// How many gradients were asked for, and the positions (int64 [k]) of the examples of the last of them;
  /// undefined when there was none.
  std::int64_t gradients() const { return gradients_; }
  const torch::Tensor& last_batch() const { return last_batch_; }

 protected:
  /// `positions`: int64 [n], the shard within setting.examples; n may be 0.
  MeteredOracle(const Setting& setting, torch::Tensor positions, const Streams& streams);

  /// What gradient() gives, as the policy has it.
  virtual Params answer(const Params& at, const Query& query) = 0;
  const Setting& setting() const { return setting_; }
  const torch::Tensor& positions() const { return positions_; }
  /// Those of the positions where there is an example: a canary that is out keeps its place alone.
  const torch::Tensor& held() const { return held_; }
  void hold(torch::Tensor positions) { held_ = std::move(positions); }
  RoundAccesses& book() { return accesses_; }
  /// Writes down an access to examples with their targets.
  void note(const Event& access) {
    if (setting_.released_labels) return;
    if (is_exact(access)) refuse_late_look();
    accesses_.add(access);
  }
  /// Of the examples at those positions.
  void count_gradient(const torch::Tensor& batch, const Query& query) {
    gradient_examples_ += batch.size(0);
    ++gradients_;
    ++asked_.gradients[query.batch_size];
    last_batch_ = batch;
  }
  /// Makes an answer that examples can make fail, and how: whoever catches that learns something of them. Of
  /// Interrupted, too, which a vote may throw as well as anybody.
  template <typename Make>
  auto attempted(const Make& make) {
    ++failures_;  // until it has not
    auto answer = make();
    --failures_;
    return answer;
  }
  /// Refuses a query that has no answer, and any inside of a vote; to be called before anything is drawn or
  /// written down.
  void check(const Query& query) const;
  /// The same of one part of a query, whoever is to answer it.
  static void check_batch_size(std::int64_t batch_size);
  static void check_votes(const VoteQuery& query);
  /// Hands out the examples at those positions, augmented where the query asks for it.
  BatchSource source(const torch::Tensor& positions, const Query& query = {}) const;
  /// Whether the example at that position is a canary that is out: as part of a voter it is all zeros.
  virtual bool leaves_out(std::int64_t /*position*/) const { return false; }
  /// Makes exact votes, [votes, numbers], what the client may send, and writes it down.
  virtual void release(const torch::Tensor& votes, const VoteQuery& query);
  /// How asking for the classes is written down.
  virtual Event class_access() const { return ExactAccess{"classes"}; }
  /// How asking for the label counts is.
  virtual Event label_count_access() const { return ExactAccess{"label counts"}; }

 private:
  // What stays the same of those who vote: into how many parts the shard is dealt, and whether they remember
  // beyond the round.
  using Electorate = std::pair<std::int64_t, bool>;
  // While it is closed; inside of a vote, which has private examples already and may give away nothing but
  // its answer; and in threads that the harness does not know, whose turn decides which answer is whose.
  void refuse_out_of_turn(const char* what) const;
  void refuse_late_look() const;
  torch::Tensor cast(Voting& voting, const Vote& vote, const VoteQuery& query);
  // These are not written down.
  Batch read(const torch::Tensor& positions) const {
    return setting_.reader.read(setting_.examples, positions, setting_.skew);
  }
  torch::Tensor count_labels() const;
  Batch examples_of_parts(const torch::Tensor& positions) const;
  Voting& parts(const VoteQuery& query);

  Setting setting_;
  torch::Tensor positions_, held_;
  Streams streams_;
  std::unique_ptr<RandomSource> responses_;  // nullptr before the first
  std::thread::id thread_ = std::this_thread::get_id();
  const char* closed_ = nullptr;
  bool casting_votes_ = false;
  FirstLook look_ = FirstLook::kTaken;  // without a plan, whatever was made
  int failures_ = 0;
  const Message* state_ = nullptr;    // the client's, while it trains
  Observations* observed_ = nullptr;  // the same
  RoundAccesses accesses_;
  AccessPlan asked_;
  std::int64_t gradient_examples_ = 0, gradients_ = 0;
  torch::Tensor last_batch_;
  std::function<void(const Params&, const Params&)> see_;
  Message remembered_;  // by voters, before this round
  std::map<Electorate, Voting> votings_;
  VoteTrials trials_;
};

}  // namespace fedarena
