#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/accounting/odometer.hpp"
#include "fedarena/algorithm.hpp"
#include "fedarena/base/pool.hpp"

#include "datasets/dataset.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/canaries.hpp"
#include "harness/oracle/local_mechanism.hpp"
#include "harness/oracle/metered_oracle.hpp"
#include "harness/oracle/policies.hpp"
#include "harness/oracle/response_mechanism.hpp"
#include "harness/ranks/crew.hpp"
#include "harness/simulation/client_states.hpp"
#include "harness/simulation/evaluation.hpp"
#include "harness/simulation/public_compute.hpp"
#include "harness/wire/wire.hpp"
#include "partitions/feature_skew.hpp"
#include "partitions/partition.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// One algorithm with one seed. References must outlive the simulation.
struct SimulationSetup {
  const Dataset& dataset;
  const Partition& partition;
  const Model& model;
  const Algorithm& algorithm;
  const WorkPool& pool;
  const std::atomic<bool>& stop;  ///< set on Ctrl-C: the round in progress then throws Interrupted
  std::uint64_t seed = 0;
  std::uint64_t cell = 0;  ///< names this run among those with the same seed: its noise is its own (Streams)
  std::int64_t rounds = 1;
  std::int64_t cohort_size = 1;     ///< clients in each round; their expected number when they are sampled
  std::int64_t evaluate_every = 1;  ///< rounds between evaluations; the last round is always evaluated
  std::function<void(std::int64_t clients_done, std::int64_t clients)> on_client =
      {};  ///< called from any thread
  PrivacyPolicy policy = NoPolicy{};
  const Partition* client_tests = nullptr;  ///< each client's test examples; nullptr: clients are not tested
  std::vector<std::int64_t> held_out =
      {};                                ///< clients that are tested to validate and never train, ascending
  bool tests_tell_label_counts = false;  ///< whether those tests give away each client's: an access to them
  bool tests_are_of_clients = false;     ///< whether the test examples are of the people whom clients are
  FeatureSkew features = {};  ///< how inputs differ from client to client; test examples stay as they are
  CanaryPlan canaries = {};   ///< by which the run audits itself; a control runs the policy without its noise
  ClientStates::Room states = {};  ///< where lies what clients remember; changes no result
  std::string public_deal = {};    ///< what an epsilon takes as public of how examples were dealt; or empty
  torch::Tensor proxy = {};        ///< the server's public inputs, as the model takes them; undefined: none
  const Params* initial_weights = nullptr;  ///< to begin from, which are public; nullptr: the seed draws them
  Crew* crew = nullptr;  ///< the ranks that share its loops over clients and tests; changes no result
  std::string algorithm_name = "the algorithm";  ///< as messages have it
};

/// What one of `clients` clients sees its examples changed by. `first`: how many examples of other lists come
/// before the first one; those for testing follow those for training.
InputSkew input_skew(const FeatureSkew& features, std::uint64_t seed, std::int64_t client,
                     std::int64_t clients, std::int64_t first = 0);

/// The halves of a client's examples, by two stages of labels: what it holds in the first, and what is added.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> label_halves(
    std::uint64_t seed, std::int64_t client, const std::vector<std::int64_t>& shard);

/// The round was not published, because it would have spent more than the policy's budget.
class BudgetSpent : public std::exception {
 public:
  const char* what() const noexcept override { return "the privacy budget is spent"; }
};

/// What a run is going to be charged, as far as that can be told before its first round.
struct Forecast {
  /// By RDP, of those rounds. What algorithms will ask for without noise, nobody tells: it would make it
  /// infinite. None where that is unproven.
  std::optional<double> epsilon = 0;
  std::int64_t rounds = 0;  ///< that the budget pays for; budgets of the clients' own end none
  /// Whether everybody's noised answers are in it: not those of an algorithm without a plan, nor messages
  /// around centres that will move, where the price depends on these.
  bool complete = true;
};

class Parts;
class PrivateUplink;
struct RoundNotes;

/// What the server receives of a client, and what of that client is in it.
struct SeenUplink {
  /// The client's message. Under the policy "client" the server sees sums: every Params is then the
  /// privatised mean over the cohort, and there is nothing else.
  Message message;
  std::int64_t gradients = 0;  ///< how many the client asked for
  Batch examples = {};         ///< of the last of them, as the model sees them; undefined when there was none
  /// Where the client asked for the first of them, and the sum of the answers; empty when there was none.
  Params asked_at = {}, sum = {};
  Message unnoised = {};  ///< the client's message before the policies "client" and "local" changed it
};

/// Runs a federated algorithm round by round, in memory but for what clients remember beyond its room. A
/// round either completes or leaves no trace.
class Simulation {
 public:
  /// Starts the algorithm. Throws what it refuses, of that and of the plan of one client's first round.
  explicit Simulation(const SimulationSetup& setup);

  /// Cohort, broadcast, local training, aggregation and, when due, evaluation. Throws BudgetSpent instead of
  /// a round that would overspend, of which the ledger keeps whether data may have decided that it would: a
  /// privacy filter (Lecuyer 2021), which continues only while the RDP of all accesses, chosen adaptively as
  /// they may be, converts to no more than the budget at some order.
  results::RoundRecord next_round();
  /// What the next round sends to each client, encoded.
  Bytes next_downlink() const;
  /// How long each message of a client is that the algorithm declares for that round; none where it declares
  /// none.
  std::optional<std::int64_t> uplink_bytes_in(std::int64_t round) const;
  /// The same, where that is so in every round.
  std::optional<std::int64_t> declared_uplink_bytes() const;
  /// Throws what the next round would begin with, before anybody trains: where its budget cannot pay for it.
  void check_next_round();
  /// Of a run before its first round: by plans, by messages as they are declared, by a sum of messages each
  /// round. Nobody trains.
  Forecast forecast();
  /// What the server would receive of that client in the next round, in whose cohort it then is: what an
  /// attack on an uplink starts from. Leaves no trace.
  SeenUplink next_uplink(std::int64_t client);
  std::int64_t rounds_done() const { return round_; }
  bool finished() const { return round_ == setup_.rounds; }
  /// To be called when a rule that looks at results ends the run early: charges the rounds that are left out,
  /// each client's until its own budget is spent, and does nothing in later calls. Each costs as much as any
  /// round may: what is planned or declared for it, the dearest round so far where nobody plans or centres
  /// move, a sum of all messages under the policy "client". A client that has not been asked for anything yet
  /// is trained once for nothing, to learn what it would have been asked for, unless its message is declared.
  void charge_rest();
  /// Whether a round that is run again brings the same numbers: not with noise of the system's generator,
  /// which draws samples as well and, under the policy "client", cohorts.
  bool repeatable() const { return is_repeatable(setup_.policy); }
  /// Adds the current model's test results to the record of the last round. Where clients are tested with
  /// models of their own, what these took is listed in the ledger as kept.
  void evaluate(results::RoundRecord& record);

  /// Of an audit: who was in, which nobody may look at before the run has ended.
  const Canaries& canaries() const { return canaries_; }
  /// Of an audit: a score for each canary, larger the more the run so far speaks for its being in. Gradients:
  /// what canary and noise brought to its coordinate over all answers, in units of the clip norm. Wrong
  /// labels: the loss of the initial model less that of the present one. Clients: the cosine of what the
  /// canary sends with the change of the model.
  std::vector<double> canary_scores() const;

  /// What this simulation does for the same one on rank 0, which alone goes from round to round: trains
  /// clients and scores models. The simulation must outlive it.
  Worker worker();
  /// Of clients with budgets of their own, those who take no further part: who was left out of a round, or
  /// whose rounds, two or more and all alike, leave too little for another one.
  const std::set<std::int64_t>& spent() const { return spent_; }

  const Params& params() const { return params_; }
  const Ledger& ledger() const { return ledger_; }
  /// What the algorithm trained the last completed round's model on in place of examples (in_pixels).
  /// Undefined tensors when it names nothing, and after restore() of a run that is `repeatable`.
  const Batch& synthetic() const { return synthetic_; }

  /// All that the next round depends on, as bytes with a checksum; client states in a file by their places
  /// there, and the file is on disk when it returns. `unpublished`: a text that restore() gives back. What
  /// clients remember of a round stays out of the file until then, or until the next round: whoever keeps the
  /// ledger on disk writes it before.
  Bytes save(std::string_view unpublished = {});
  /// Hands what save() returns to `write`, which brings it to disk as the only checkpoint. The file of client
  /// states then stays as that checkpoint needs it until the next one.
  void checkpoint(const std::function<void(const Bytes&)>& write, std::string_view unpublished = {});
  /// Continues from saved bytes of a simulation with the same setup. `look` sees their `unpublished` before
  /// anything else is taken from them, and may throw. Error when they are damaged or foreign.
  void restore(std::span<const std::byte> bytes,
               const std::function<void(const std::string& unpublished)>& look = {});
  /// Takes over the ledger on disk of a run that is not `repeatable` and may have crashed: a round in it that
  /// the checkpoint does not hold was answered, and the answers may have been seen, so they stay charged
  /// beside those of the next attempt. Error when it does not continue the ledger of the checkpoint.
  void charge_lost(const Ledger& written);

 private:
  static constexpr Key<Params> kAskedAt{"asked_at"}, kSum{"sum"};  // in LocalResult::asked

  struct LocalResult {
    // What the client sends, as it left the lane of a GPU that it was computed in: that lane gives memory of
    // its tensors to other work as soon as they are gone, whoever still waits for a sum of them.
    Bytes packed;
    Message uplink;             // in place of `packed` once it is opened
    ClientStates::State state;  // nullptr when the client remembers nothing
    RoundAccesses accesses;
    std::int64_t uplink_bytes = 0;
    std::int64_t examples = 0;
    std::int64_t gradients = 0;
    // Where the downlink asks for it; packed for the same reason.
    torch::Tensor last_batch;
    Bytes asked, unnoised;
    Observations observed;
    std::vector<double> canary_scores;
  };

  Server server_view(std::int64_t round, Params& params, Message& state, RoundNotes& notes) const;
  // What the server sends before that round; changes nothing, whatever the algorithm writes to.
  Bytes broadcast(std::int64_t round, RoundNotes& notes) const;
  Streams streams_of(std::int64_t round, std::int64_t client) const {
    return {setup_.seed, round, client, setup_.cell};
  }
  // Of those that train.
  std::int64_t population() const { return static_cast<std::int64_t>(training_.size()); }
  // Whether the system's generator draws cohorts, so that each call of `cohort_of` gives another one.
  bool draws_secret_cohorts() const;
  std::vector<std::int64_t> cohort_of(std::int64_t round) const;
  InputSkew skew_of(std::int64_t client, std::int64_t first) const;
  // What an oracle of one client has whatever the policy.
  MeteredOracle::Setting exact_setting(const Examples& examples, std::int64_t client) const;
  torch::Tensor shard_of(std::int64_t client) const;
  // What a client brings into a round from those before.
  struct Past {
    ClientStates::State state = nullptr;  // when it remembers nothing
    std::int64_t participations = 0;
    std::vector<Access> charged = {};  // where it has a budget
  };
  Past past_of(std::int64_t client) const;
  // The same but for the state, by a ledger of the rounds before.
  Past past_in(const Ledger& ledger, std::int64_t client) const;
  std::unique_ptr<MeteredOracle> open_shard(std::int64_t client, std::int64_t round, const Streams& streams,
                                            const std::vector<Access>& charged) const;
  // Of the policy "label": draws what everybody sees of labels from the first round on.
  void randomise_labels();
  // The labels from the next stage on; undefined where none begins after that round.
  torch::Tensor labels_after(std::int64_t round) const;
  // Of each of those examples, [n, classes], which clients predict with the global model.
  torch::Tensor label_priors(const std::vector<std::pair<std::int64_t, torch::Tensor>>& shards) const;
  void release_labels(std::int64_t client, const torch::Tensor& positions, const torch::Tensor& prior,
                      std::uint64_t stage, torch::Tensor& labels) const;
  // Where the halves of a client's examples lie, int64.
  std::pair<torch::Tensor, torch::Tensor> halves_of(std::int64_t client) const;
  // What clients receive in the next round.
  struct Downlink {
    Message message;
    Centres centres;  // of the policy "local"
    Bytes sent;       // the message as it was encoded
    // Whether results hold last batches, for attacks: of a large cohort these are many small pieces of memory
    // between large ones.
    bool keeps_batches = false;
    FirstLook look = FirstLook::kTaken;
  };
  Downlink opened(Bytes bytes, FirstLook look = FirstLook::kTaken) const;
  // After the rounds so far.
  FirstLook first_look() const;
  // Of the policy "local".
  DeclaredUplink declared_uplink(std::int64_t client, std::int64_t round, std::int64_t examples) const;
  LocalResult train_client(std::int64_t client, std::int64_t round, const Downlink& downlink,
                           const Past& past) const;
  // What the algorithm plans to ask of a client in a round. Error where making the plan asks the oracle for
  // anything.
  std::optional<AccessPlan> plan_of(std::int64_t client, std::int64_t round, std::int64_t participations,
                                    MeteredOracle& oracle) const;
  // Whatever the policy, so that settings which do not suit it are refused before anybody works, and so is an
  // audit by gradients of an algorithm that asks for none.
  void try_plan() const;
  // What the plan has beyond what was asked. Error where more was asked than planned.
  AccessPlan unasked(const AccessPlan& plan, const AccessPlan& asked, const Client& client) const;
  // Who takes part in a round to come; nobody where the system will draw: then the population is charged.
  std::vector<std::int64_t> known_cohort(std::int64_t round) const;
  // Trains once, for nothing, whom the rounds that are left out would ask for the first time: for what.
  std::map<std::int64_t, RoundAccesses> train_newcomers(const Downlink& downlink);
  // What a client will be charged for in a round after those of the ledger, as its plan or the message that
  // it declares tells beforehand, around those centres; none where there is neither.
  std::optional<RoundAccesses> planned_accesses(std::int64_t client, std::int64_t round, const Ledger& before,
                                                const Centres& centres) const;
  // Of a unit whose rounds so far, two or more, made the same accesses: what one of them made.
  static std::optional<RoundAccesses> same_again(const std::vector<Ledger::Segment>& segments);
  // Charges the ledger for a round as far as that can be told before it: by plans and messages as declared;
  // without them, where all rounds so far, two or more, made the same accesses, by those. False where it
  // cannot be told of all clients. Adds to the clients whose own budgets are spent.
  bool foresee_round(std::int64_t round, const std::vector<std::int64_t>& cohort, const Centres& centres,
                     std::set<std::int64_t>& spent, Ledger& ledger) const;
  // Adds what everybody is charged for beside the rounds' sums.
  void add_to_first_round(std::vector<Access>& everybody) const;
  // Those of a round in segments that cost the most: what any other one may be made of.
  RoundAccesses dearest_accesses(const std::vector<Ledger::Segment>& segments) const;
  RoundAccesses dearer(RoundAccesses left, RoundAccesses right) const;
  // Error where who read its copy of a message from the server wrote to it, in ways that LibTorch does not
  // see: harmless, and never what the author means.
  void check_unwritten(const Bytes& sent, const Message& downlink, std::int64_t round,
                       const char* where) const;
  // In the order of `clients`; `done` is called after each, from any thread.
  std::vector<LocalResult> train_all(const std::vector<std::int64_t>& clients, std::int64_t round,
                                     const Downlink& downlink, const std::function<void()>& done) const;
  PrivateUplink privatised(const ClientPolicy& policy, std::int64_t round,
                           std::vector<Message> uplinks) const;
  // Of no messages, charged as if a sum had been asked for.
  PrivateUplink sum_of(const ClientPolicy& policy, std::int64_t round) const;
  // Whether clients declare to send nothing in that round, under the policy "client".
  bool declares_nothing(std::int64_t round) const;
  // Adds what is charged where they declare nothing, under the same policy.
  void add_undeclared(std::int64_t round, std::vector<Access>& everybody) const;
  RoundAccesses of_everybody(std::int64_t round, std::vector<Access> accesses) const;
  // The next round; where it throws, model, server state and clip norm are to be put back.
  results::RoundRecord play_round();
  // Of a round in which answers were withheld: what the oracles of those who stay were asked for, at least.
  results::Cost cost_of(std::span<const LocalResult> local) const;
  // Whether data may have decided what messages of a cohort are made of, and how long they are: one is not
  // what the algorithm declares for the round, or it declares none.
  bool shapes_tell(std::int64_t round, std::span<const LocalResult> local) const;
  std::int64_t bytes_of(const std::vector<UplinkEntry>& entries) const;
  void add_canary_scores(const std::vector<std::int64_t>& cohort, const std::vector<LocalResult>& local);
  // Lets the algorithm aggregate. Returns what the server's side of the policy did to everybody, and writes
  // down what it would have done to more of them.
  RoundAccesses aggregate(Server& server, std::vector<Message> uplinks, Ledger& ledger);
  void check_label_counts() const;
  // Saves the work of a round that is bound to be withheld.
  void check_forecast(std::int64_t round, const std::vector<std::int64_t>& cohort, const Centres& centres);
  // Written so that what is unproven, or no number, counts as too much.
  bool within_budget(const Ledger& ledger) const;
  void check_budget(const Ledger& ledger) const;
  void refuse_another_first_round() const;
  // Of budgets of the clients' own, before the first round: Error where no budget of a client that is ever
  // drawn pays for a round, as far as plans tell.
  void check_anybody_pays(const Centres& centres) const;
  // That error; `all_drawn`: whether all clients are drawn.
  [[noreturn]] void refuse_unpaid(bool all_drawn, std::optional<double> cost) const;
  // Of budgets of the clients' own: takes out of a cohort who cannot pay for what it is asked for, where that
  // is known: as planned, or as answered, where answers may have decided who is dropped. Returns the places
  // that the others had. Throws BudgetSpent where nobody is left, and Error where the run ends without
  // anybody who ever took part.
  enum class Known { kPlanned, kAnswered };
  using AccessesOf = std::function<std::optional<RoundAccesses>(std::size_t place)>;
  std::vector<std::size_t> leave_out_spent(std::vector<std::int64_t>& cohort, const AccessesOf& accesses_of,
                                           Known known, std::set<std::int64_t>& spent, Ledger& ledger) const;
  // The same by what is planned, so that nobody works for what is bound to be withheld.
  void leave_out_unpaid(std::vector<std::int64_t>& cohort, const Centres& centres,
                        std::set<std::int64_t>& spent, Ledger& ledger) const;
  // Whether the client's budget pays for what it was charged for, and more.
  bool pays(std::int64_t client, std::vector<Access> charged, const std::vector<Access>& more) const;
  // The same of a round after those of the ledger; true where clients have no budgets of their own.
  bool pays(std::int64_t client, const Ledger& ledger, const RoundAccesses& round) const;
  bool pays_again(std::int64_t client, const Ledger& ledger) const;
  std::set<std::int64_t> spent_so_far() const;
  // States of clients that a round in progress has changed, by client.
  using PendingStates = std::map<std::int64_t, ClientStates::State>;
  void evaluate(results::RoundRecord& record, const PendingStates& pending, Ledger& ledger);
  // A piece of an evaluation, and what a personal model took from its client's examples.
  struct Tested {
    Score score;
    RoundAccesses kept;
  };
  // `sent`: what a personal model is made from, the message of round `next`; nullptr: every piece is scored
  // with `params`.
  Tested test(const Evaluator::Piece& piece, const Params& params, std::int64_t next, const Bytes* sent,
              const Past& past) const;
  // Runs a loop here, or shares it with the crew.
  void run_loop(const SharedLoop& loop) const;
  static void put_past(Bytes& bytes, const Past& past);
  static Past past_from(Parts& parts);
  Bytes pack_result(const LocalResult& result) const;
  LocalResult unpack_result(std::span<const std::byte> bytes) const;
  Handle open_training(Parts& job);
  Handle open_test(Parts& job) const;
  torch::Device device() const { return setup_.model.options().device(); }
  Message message_from(std::span<const std::byte> bytes) const;
  Client client_view(std::int64_t client, std::int64_t round, std::int64_t participations,
                     MeteredOracle& oracle, const Compute& compute, Message& state,
                     Observations& observed) const;
  Params initial_params() const;
  double loss_of_canary(std::size_t canary, const Params& at) const;

  SimulationSetup setup_;
  std::vector<std::int64_t> training_;  // the clients that are not held out
  Canaries canaries_;
  Examples train_;  // as clients hold it: canaries may have other labels, and all under the policy "label"
  ExampleReader reader_;
  GradientEngine engine_;
  Evaluator evaluator_;
  PublicCompute compute_;
  std::int64_t round_ = 0;
  Params params_;
  Message server_state_;
  ClientStates client_states_;
  Ledger ledger_;
  Odometer odometer_;
  std::set<std::int64_t> spent_;
  double clip_norm_ = 0;  // of the policy "client", where it may adapt
  Batch synthetic_;
  std::vector<double> gradient_scores_;  // of the canaries, over the rounds so far
  // What clients declare to send, by round, where messages are what a policy hides; none of an algorithm that
  // declares nothing, which "local" refuses.
  std::vector<std::optional<std::vector<UplinkEntry>>> uplinks_;
  // Of the policy "label", and what it cost to release each label once.
  std::optional<ResponseRelease> responses_;
  RoundAccesses response_accesses_;
};

}  // namespace fedarena
