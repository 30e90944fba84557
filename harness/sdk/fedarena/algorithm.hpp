/// Everything a federated algorithm may see; plugins include this and, as they like, the building blocks of
/// methods that send models (`local_training.hpp`, `model_averaging.hpp`) and of those that send synthetic
/// sets (`synthetic_sets.hpp`, `set_descent.hpp`, `class_batches.hpp`, `matching.hpp`, `condensation.hpp`,
/// `private_set.hpp`), of those whose clients draw images in place of their own (`generators.hpp`), of those
/// that teach one model by others (`distillation.hpp`), and for networks of their own `adam.hpp` and
/// `custom_layers.hpp`; no other header of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fedarena/augmentation.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/export.hpp"
#include "fedarena/base/schema.hpp"
#include "fedarena/compute.hpp"
#include "fedarena/message.hpp"
#include "fedarena/model.hpp"
#include "fedarena/observations.hpp"
#include "fedarena/params.hpp"
#include "fedarena/plugin.hpp"
#include "fedarena/random.hpp"

namespace fedarena {

/// How a gradient is asked for.
struct Query {
  /// Examples of one batch; 0 means the whole shard at once.
  std::int64_t batch_size = 0;
  /// Applied to every example before its gradient is taken; nullptr for none. Error for a model whose inputs
  /// are not [channels, height, width], unless it changes nothing.
  const Augmentation* augmentation = nullptr;
};

/// Examples of a client that vote: row i of every tensor belongs to voter `first` + i.
struct FEDARENA_API Voters {
  std::int64_t first;     ///< the number of the first of these voters
  const Batch& examples;  ///< inputs [voters, examples, input shape...], targets [voters, examples]
  /// What these voters remember from vote to vote: tensors [voters, ...], none at first.
  Message& memory;

  std::int64_t size() const { return examples.inputs.size(0); }
};

/// What voters say: [voters, votes, numbers], floating, the same shape whoever they are. Row i depends on row
/// i of the examples and of the memory alone. Called from several threads at once, on some of the voters at a
/// time. Private examples are in its hands, so that nothing but the answer may leave it: while votes are
/// cast, the client's oracle and `Client::compute` answer nothing, `Client::observed` takes nothing and
/// `Client::state` must stay. Long ones may call Compute::stop_if_interrupted.
using Vote = std::function<torch::Tensor(const Voters& voters)>;

/// How votes are asked for.
struct VoteQuery {
  /// Voters are so many disjoint parts of the shard, of one size, fixed for the whole run; the examples left
  /// over have no vote. 0: every example is a voter of its own, which remembers nothing.
  std::int64_t parts = 0;
  /// What each voter says: so many votes of so many numbers, each 1 at least. Said beforehand, because the
  /// shape of an answer passes no mechanism.
  std::int64_t votes = 1;
  std::int64_t numbers = 1;
  double bound = 1;  ///< Euclidean norm to which each vote of each voter is clipped; 1e-30 to 1e30
  /// Whether the parts remember beyond this round; else what they do is forgotten after it, and each round
  /// begins with nothing. Both have a memory of their own.
  bool keep = false;
};

/// How many answers an algorithm asks a client's oracle for in one round: at most, or so far. By what an
/// answer costs: gradients by the size of their batches, votes by whose they are.
struct AccessPlan {
  std::map<std::int64_t, std::int64_t> gradients = {};  ///< by batch size; 0: the whole shard at once
  std::int64_t votes = 0;                               ///< of the shard's examples, one by one
  std::int64_t part_votes = 0;                          ///< of its parts
  bool operator==(const AccessPlan&) const = default;
};

/// The one door to a client's examples. Every call is written to the privacy ledger.
class FEDARENA_API Oracle {
 public:
  /// Mean loss gradient at `at` over the next batch, as private as the run demands. Without privacy the shard
  /// is shuffled once an epoch and dealt in batches, the last of which may be short.
  virtual Params gradient(const Params& at, const Query& query) = 0;
  /// Batches in one pass over the shard; 1 when `batch_size` is 0.
  virtual std::int64_t steps_per_epoch(std::int64_t batch_size) const = 0;
  /// Mean loss over the whole shard.
  virtual double loss(const Params& at) = 0;
  /// Examples of each class, int64 [classes].
  virtual torch::Tensor label_counts() = 0;
  /// Classes that the shard holds examples of, int64 ascending. An exact access, unless the policy on records
  /// has `public_classes`.
  virtual torch::Tensor held_classes() = 0;
  /// All raw examples. An exact access: under a privacy policy on records it makes this client's epsilon
  /// infinite.
  virtual Batch exact_batch() = 0;
  /// Randomised response to labels that are no example's own, such as those of synthetic images (int64 [n]):
  /// int64 [n], each answered under its row of `prior` ([n, classes], rows sum to 1; RRWithPrior, Ghazi et
  /// al., NeurIPS 2021) or, where that is undefined, by plain k-ary response. `epsilon` is what papers then
  /// call label privacy, which the ledger keeps apart from every epsilon: whatever images made from raw
  /// examples tell of them, their labels do not hide it. Error for a regression, labels that are not classes,
  /// rows that are not distributions (but for those of a model that diverged, not all finite: they say
  /// nothing) and an epsilon outside (0, 64].
  virtual torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                            double epsilon) = 0;
  /// The sum of votes over all voters, each clipped to the bound, as private as the run demands: [votes,
  /// numbers], float64. Under a policy on records every vote is one access by the Gaussian mechanism, with
  /// noise of standard deviation noise_multiplier * bound; neighbours exchange a record where voters are
  /// parts, because the vote of its part may then be any other. Memory stays behind this door: neither
  /// `Client::state` nor a message has it. Error for fewer examples than parts, for answers of another shape
  /// than the query says, and for a vote in which one voter's answer or memory depends on another's. A vote
  /// that failed ends the run, caught or not.
  virtual torch::Tensor noisy_sum(const Vote& vote, const VoteQuery& query) = 0;
  /// How many more such votes the client's budget pays for, after all that it was asked for so far; the
  /// largest integer where nothing is charged or there is no budget. It depends on no example.
  virtual std::int64_t votes_left(const VoteQuery& query) const = 0;
  /// The same for gradients over batches of that size, 0: the whole shard.
  virtual std::int64_t gradients_left(std::int64_t batch_size) const = 0;
  /// Examples in the shard, which the ledger lists as assumed public.
  virtual std::int64_t size() const = 0;

 protected:
  ~Oracle() = default;
};

/// One client in one round, confined to one thread.
struct FEDARENA_API Client {
  std::int64_t id;      ///< 0 .. population-1
  std::int64_t round;   ///< from 1
  std::int64_t rounds;  ///< planned, for schedules
  Oracle& oracle;
  Message& state;  ///< stays on this client between rounds; dropped when the round does not complete
  const Model& model;
  const Compute& compute;  ///< for public or synthetic data
  Streams streams;
  /// For curves. Left out under a privacy policy on clients, whose mechanism they do not pass.
  Observations& observed;
  /// The epsilon that its accesses may cost over the whole run, which is public; 0: no limit.
  double budget = 0;
  torch::Tensor pixel_range = {};   ///< as the server's
  std::int64_t participations = 0;  ///< rounds that it took part in before this one
};

/// The server, in one round or before the first (round 0).
struct FEDARENA_API Server {
  std::int64_t round;       ///< from 1; 0 in `start`
  std::int64_t rounds;      ///< planned, for schedules
  std::int64_t population;  ///< all clients, taking part or not
  Params& params;           ///< the global model
  Message& state;
  const Model& model;
  const Compute& compute;  ///< for public or synthetic data
  Streams streams;
  /// What this round's model was trained on in place of examples, for people to look at: the harness keeps it
  /// in the run directory. Empty (undefined tensors) unless `aggregate` sets it; nothing else rests on it.
  Batch& synthetic;
  Observations& observed;  ///< for curves, in the same record as those of the cohort
  /// Which of several models each client of the cohort took or was given, numbered from 0, in the order of
  /// `Uplink::each`, for people to look at: the harness writes it down beside the client. Empty unless
  /// `aggregate` fills it; nothing else rests on it. Left out under a privacy policy on clients, whose cohort
  /// is a secret.
  std::vector<std::int64_t>& choices;
  /// Public inputs without labels, [n, input shape...], as the model takes the run's own; undefined unless
  /// the experiment has a section [proxy].
  torch::Tensor proxy = {};
  /// What black and white pixels are as inputs, one row each: [2, channels]; undefined where inputs are not
  /// images of known pixels.
  torch::Tensor pixel_range = {};
};

/// The cohort's messages, decoded from the wire, in the order of client numbers.
class FEDARENA_API Uplink {
 public:
  virtual std::int64_t size() const = 0;
  /// Mean over the cohort, summed in client order. Under "client" an exact access where the algorithm does
  /// not declare such an entry.
  virtual Params mean(Key<Params> key) const = 0;
  /// Mean weighted by another entry of each message, such as its number of examples; weights are >= 0, not
  /// all 0.
  virtual Params mean(Key<Params> key, Key<std::int64_t> weight) const = 0;
  /// One by one. An exact access when the run privatises whole messages, whose cohorts may be empty.
  virtual std::span<const Message> each() const = 0;

 protected:
  ~Uplink() = default;
};

/// An entry of what clients send, as an algorithm declares it: parameters or the number of the client's
/// examples.
struct FEDARENA_API UplinkEntry {
  UplinkEntry(Key<Params> key) : name(key.name) {}  // NOLINT(google-explicit-constructor)
  UplinkEntry(Key<std::int64_t> key)                // NOLINT(google-explicit-constructor)
      : name(key.name), counts_examples(true) {}
  std::string name;
  bool counts_examples = false;  ///< the number of them is public
};

/// For the `uplink_entries` of an algorithm whose clients send something else than parameters and numbers of
/// examples, such as "synthetic images": throws the Error that the policy "local" refuses it with.
FEDARENA_API std::vector<UplinkEntry> undeclared(const std::string& what, const std::string& remedy = {});

/// Const throughout: an algorithm is its hyper-parameters; memory lives in `state`, so that stopping and
/// resuming costs it nothing. Calls come from several threads at once.
class FEDARENA_API Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Once before the first round.
  virtual void start(Server& /*server*/) const {}
  /// What every client of the cohort receives: by default the global model, under the name "model". Called as
  /// often as somebody wants to know; it changes nothing of the server.
  virtual Message broadcast(const Server& server) const { return {{Key<Params>{"model"}, server.params}}; }
  /// A client's local work; returns what it sends. `downlink` is a copy of its own, yet not to be changed.
  virtual Message train(Client& client, const Message& downlink) const = 0;
  /// The entries of every message that `train` returns in that round, in order: by default what
  /// `update_message` sends. Under the policy "local" a message of any others is refused, since which entries
  /// there are, and of what kind, passes no mechanism; under "client" it is an exact access. Asked for
  /// all rounds before the first.
  virtual std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const {
    return {Key<Params>{"update"}, Key<std::int64_t>{"examples"}};
  }
  /// Public points near which the parameters lie that clients send, each of the model's layout; none: the
  /// origin, as for changes of a model. The policy "local" clips a message around the nearest of them. Which
  /// one that is, is a secret, so their spread counts as sensitivity. Of `number_of_centres`, or an Error.
  virtual std::vector<Params> centres(const Message& /*downlink*/) const { return {}; }
  /// How many there are, in every round: a second one in later rounds would cost what no round so far tells.
  virtual std::size_t number_of_centres() const { return 0; }
  /// Turns the cohort's messages into the next global model.
  virtual void aggregate(Server& server, const Uplink& uplink) const = 0;
  /// The most that `train` asks this client's oracle for in this round, under a policy on records: all of it
  /// is charged, made or not, and asking for more ends the run. To be stated where what anybody was answered
  /// may change what is asked for, or where rounds differ; anywhere, it shows before the work what a budget
  /// does not pay for. None: what was asked for is charged. It must follow from what is public:
  /// hyper-parameters, round, sizes, budget and participations. The client's state is empty meanwhile, since
  /// what was answered may have decided on it, and its oracle answers nothing. Once before the first round it
  /// is called for one client that holds examples, whatever the policy: the place to refuse settings that do
  /// not suit the policy or its budgets.
  virtual std::optional<AccessPlan> access_plan(const Client& /*client*/) const { return std::nullopt; }
  /// Whether clients are tested with models of their own.
  virtual bool personalises() const { return false; }
  /// The model that a client is tested with, made where it stays: of the same layout as the global one, from
  /// what the next round would send it. Its accesses are exact under every policy, listed in the ledger as
  /// kept by the client and not charged, because nothing of it is sent. What it writes into the state is
  /// dropped. Called only where personalises().
  virtual Params personalise(Client& /*client*/, const Message& /*downlink*/) const {
    throw Bug("an algorithm that personalises does not say how");
  }
};

/// An algorithm with these hyper-parameters, which a static `schema()` of theirs declares: derive from it,
/// and inherit its constructor.
template <typename HyperParameters>
class Configured : public Algorithm {
 public:
  using Config = HyperParameters;
  explicit Configured(Config config) : config_(std::move(config)) {}

 protected:
  Config config_;
};

}  // namespace fedarena
