#include "harness/simulation/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "harness/oracle/exact_oracle.hpp"
#include "harness/oracle/noise_source.hpp"
#include "harness/oracle/private_uplink.hpp"
#include "harness/oracle/record_oracle.hpp"
#include "harness/simulation/cohort.hpp"
#include "harness/simulation/cost_meter.hpp"
#include "harness/simulation/round_notes.hpp"
#include "harness/simulation/synthetic_batch.hpp"

namespace fedarena {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Puts things back when a round does not complete.
class Rollback {
 public:
  Rollback(Params& params, Message& state, double& clip_norm)
      : params_(params),
        state_(state),
        clip_norm_(clip_norm),
        old_params_(params),
        old_state_(state),
        old_clip_norm_(clip_norm) {}
  ~Rollback() {
    if (committed_) return;
    clip_norm_ = old_clip_norm_;
    params_ = std::move(old_params_);
    state_ = std::move(old_state_);
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  void commit() { committed_ = true; }

 private:
  Params& params_;
  Message& state_;
  double& clip_norm_;
  Params old_params_;
  Message old_state_;
  double old_clip_norm_;
  bool committed_ = false;
};

AccountSettings account_settings_of(const PrivacyPolicy& policy) {
  const Accounting* accounting = fedarena::accounting(policy);
  return accounting == nullptr ? AccountSettings() : static_cast<const AccountSettings&>(*accounting);
}

// What an epsilon of the run rests on beside sizes: what is looked at outside of the mechanisms.
std::vector<std::string> public_data(const SimulationSetup& setup) {
  std::vector<std::string> list;
  const Unit hidden = unit(setup.policy);
  if (hidden == Unit::kNothing) return list;
  if (setup.proxy.defined()) list.emplace_back("the server's proxy data");
  if (!setup.dataset.fitted.empty()) list.push_back(setup.dataset.fitted);
  // What clients are as a whole includes what they are tested on, and the scores of each are written down.
  if (setup.client_tests != nullptr && (hidden == Unit::kClient || hidden == Unit::kLocal))
    list.emplace_back("the clients' own test examples");
  // Their scores are written down, and a rule or whoever reads the best round may choose the model by them.
  if (setup.dataset.validation.size() > 0) list.emplace_back("the validation examples");
  if (!setup.held_out.empty()) list.emplace_back("the scores of held-out clients");
  return list;
}

// What a setup asks for: a control draws as it would, and adds nothing.
SimulationSetup without_noise_of_controls(SimulationSetup setup) {
  if (!setup.canaries.control) return setup;
  if (auto* record = std::get_if<RecordPolicy>(&setup.policy)) record->noise_multiplier = 0;
  if (auto* client = std::get_if<ClientPolicy>(&setup.policy)) client->noise_multiplier = 0;
  return setup;
}

std::vector<std::int64_t> training_clients(const SimulationSetup& setup) {
  std::vector<std::int64_t> clients;
  for (std::int64_t client = 0; client < std::ssize(setup.partition); ++client) {
    if (!std::ranges::binary_search(setup.held_out, client)) clients.push_back(client);
  }
  return clients;
}

}  // namespace

InputSkew input_skew(const FeatureSkew& features, std::uint64_t seed, std::int64_t client,
                     std::int64_t clients, std::int64_t first) {
  const ClientFeatures of_client = features.of(client, clients);
  return {
      .degrees = of_client.degrees, .noise = of_client.noise, .seed = seed, .client = client, .first = first};
}

Simulation::Simulation(const SimulationSetup& setup)
    : setup_(without_noise_of_controls(setup)),
      training_(training_clients(setup)),
      canaries_(setup.canaries, setup.seed, setup.partition, setup.dataset.train, setup.dataset.classes,
                setup.model.layout()->numel()),
      train_(canaries_.apply(setup.dataset.train)),
      reader_(setup.dataset, setup.model.options()),
      engine_(setup.model, setup.pool),
      evaluator_({.dataset = setup_.dataset,
                  .reader = reader_,
                  .engine = engine_,
                  .pool = setup_.pool,
                  .stop = setup_.stop,
                  .client_tests = setup_.client_tests,
                  .held_out = setup_.held_out,
                  .test_skew =
                      [this](std::int64_t client) { return skew_of(client, setup_.dataset.train.size()); }}),
      compute_(engine_, setup.stop),
      oracle_setting_{train_, reader_, setup_.model, engine_, setup_.stop, setup_.dataset.classes},
      client_states_(setup_.states),
      ledger_(unit(setup_.policy)),
      odometer_(account_settings_of(setup_.policy)) {
  if (const auto* policy = std::get_if<ClientPolicy>(&setup_.policy)) clip_norm_ = policy->clip_norm;
  params_ = initial_params();
  ledger_.declare_public(public_data(setup_));
  if (setup_.canaries.kind == kGradientCanaries)
    gradient_scores_.assign(static_cast<std::size_t>(canaries_.size()), 0);
  for (std::size_t client = 0; client < setup_.partition.size(); ++client) {
    ledger_.add_client(static_cast<std::int64_t>(client),
                       static_cast<std::int64_t>(setup_.partition[client].size()));
  }
  RoundNotes unused;
  Server server = server_view(0, unused);
  setup_.algorithm.start(server);
  randomise_labels();
}

Params Simulation::initial_params() const {
  Stream weights(
      {.seed = setup_.seed, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
  return setup_.model.initial(weights);
}

Server Simulation::server_view(std::int64_t round, RoundNotes& notes) {
  return {.round = round,
          .rounds = setup_.rounds,
          .population = population(),
          .params = params_,
          .state = server_state_,
          .model = setup_.model,
          .compute = compute_,
          .streams = streams_of(round, kServer).for_algorithm(),
          .synthetic = notes.synthetic,
          .observed = notes.observed,
          .choices = notes.choices,
          .proxy = setup_.proxy,
          .pixel_range = reader_.pixel_range()};
}

// Where the claim counts on nobody's knowing who was drawn. Under other policies it counts on nothing of the
// kind, and who takes part is public.
bool Simulation::draws_secret_cohorts() const {
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  return policy != nullptr && policy->noise_source == kSystemNoise;
}

std::vector<std::int64_t> Simulation::cohort_of(std::int64_t round) const {
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  const bool poisson = policy != nullptr && policy->sampling == kPoisson;
  const auto draws = cohort_draws(draws_secret_cohorts() ? kSystemNoise : kStreamNoise, setup_.seed, round);
  std::vector<std::int64_t> cohort = poisson ? sample_cohort(*draws, population(), setup_.cohort_size)
                                             : choose_cohort(*draws, population(), setup_.cohort_size);
  for (std::int64_t& client : cohort) client = training_[static_cast<std::size_t>(client)];
  return cohort;
}

InputSkew Simulation::skew_of(std::int64_t client, std::int64_t first) const {
  return input_skew(setup_.features, setup_.seed, client, static_cast<std::int64_t>(setup_.partition.size()),
                    first);
}

MeteredOracle::Setting Simulation::shard_setting(std::int64_t client) const {
  MeteredOracle::Setting setting = oracle_setting_;
  setting.skew = skew_of(client, 0);
  if (const Accounting* accounting = fedarena::accounting(setup_.policy))
    setting.noise_source = accounting->noise_source;
  setting.released_labels = responses_.has_value();
  return setting;
}

torch::Tensor Simulation::shard_of(std::int64_t client) const {
  return torch::tensor(setup_.partition[static_cast<std::size_t>(client)], torch::kInt64);
}

Simulation::Past Simulation::past_of(std::int64_t client) const {
  Past past{.state = client_states_.get(client)};
  if (budget_of(setup_.policy, client) > 0)
    past.charged = Ledger::charged_of(ledger_.clients().at(client).segments);
  return past;
}

std::unique_ptr<MeteredOracle> Simulation::open_shard(std::int64_t client, std::int64_t round,
                                                      const Streams& streams,
                                                      const std::vector<Access>& charged) const {
  if (const auto* policy = std::get_if<RecordPolicy>(&setup_.policy)) {
    MeteredOracle::Setting setting = shard_setting(client);
    if (budget_of(setup_.policy, client) > 0) {
      setting.pays = [this, client, charged](const std::vector<Access>& of_round) {
        return pays(client, charged, of_round);
      };
    }
    return std::make_unique<RecordOracle>(setting, shard_of(client), streams, of_client(*policy, client),
                                          canaries_.of_client(client, streams));
  }
  const auto* labels = std::get_if<LabelPolicy>(&setup_.policy);
  const bool half = labels != nullptr && round <= labels->first_rounds;
  return std::make_unique<ExactOracle>(shard_setting(client),
                                       half ? halves_of(client).first : shard_of(client), streams);
}

Message Simulation::message_from(std::span<const std::byte> bytes) const {
  return decode(bytes, setup_.model.layout(), setup_.model.options().device());
}

Client Simulation::client_view(std::int64_t client, std::int64_t round, MeteredOracle& oracle, Message& state,
                               Observations& observed) const {
  return {.id = client,
          .round = round,
          .rounds = setup_.rounds,
          .oracle = oracle,
          .state = state,
          .model = setup_.model,
          .compute = compute_,
          .streams = streams_of(round, client).for_algorithm(),
          .observed = observed,
          .budget = budget_of(setup_.policy, client),
          .pixel_range = reader_.pixel_range()};
}

DeclaredUplink Simulation::declared_uplink(std::int64_t client, std::int64_t round,
                                           std::int64_t examples) const {
  return {.entries = setup_.algorithm.uplink_entries(round),
          .examples = examples,
          .sender = fmt::format("client {} of {} in round {}", client, setup_.algorithm_name, round)};
}

Simulation::LocalResult Simulation::train_client(std::int64_t client, std::int64_t round,
                                                 const Downlink& downlink, const Past& past) const {
  LocalResult result;
  Message state = past.state ? message_from(*past.state) : Message();
  const Streams streams = streams_of(round, client);
  const std::unique_ptr<MeteredOracle> oracle = open_shard(client, round, streams, past.charged);
  oracle->recall(state);
  oracle->seal_in_votes(state, result.observed);
  Client view = client_view(client, round, *oracle, state, result.observed);
  const std::optional<AccessPlan> plan = plan_of(view);
  Message message = setup_.algorithm.train(view, downlink.message);
  result.accesses = oracle->accesses();
  if (plan) result.accesses.leave_unmade(oracle->noised(unasked(*plan, oracle->asked(), view)));
  if (const auto* policy = std::get_if<LocalPolicy>(&setup_.policy)) {
    // What happens on the device stays there; what leaves it is all that is charged.
    result.accesses = {};
    randomise(message, declared_uplink(client, round, oracle->size()), of_client(*policy, client),
              downlink.centres, streams, result.accesses);
  }
  const Bytes bytes = encode(message);
  result.uplink = message_from(bytes);
  result.uplink_bytes = static_cast<std::int64_t>(bytes.size());
  oracle->remember(state);
  if (!state.entries().empty()) result.state = std::make_shared<const Bytes>(encode(state));
  result.examples = oracle->gradient_examples();
  result.canary_scores = oracle->canary_scores();
  result.gradients = oracle->gradients();
  result.last_batch = oracle->last_batch();
  return result;
}

PrivateUplink Simulation::privatised(const ClientPolicy& policy, std::int64_t round,
                                     std::vector<Message> uplinks) const {
  return {{.policy = policy,
           .clip_norm = clip_norm_,
           .expected_cohort = setup_.cohort_size,
           .population = population(),
           .streams = streams_of(round, kServer),
           .zeros = zeros_like(params_),
           .canaries = &canaries_},
          std::move(uplinks)};
}

void Simulation::aggregate(Server& server, std::vector<Message> uplinks, Ledger& ledger) {
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  if (policy == nullptr) {
    setup_.algorithm.aggregate(server, CohortUplink(std::move(uplinks)));
    return;
  }
  const PrivateUplink uplink = privatised(*policy, server.round, std::move(uplinks));
  setup_.algorithm.aggregate(server, uplink);
  ledger.record_population(server.round, uplink.accesses());
  if (policy->as_if_cohort > 0) ledger.record_as_if(server.round, uplink.as_if_accesses());
  clip_norm_ = uplink.next_clip_norm();
}

Bytes Simulation::next_downlink() {
  RoundNotes unused;
  const Server server = server_view(round_ + 1, unused);
  return encode(setup_.algorithm.broadcast(server));
}

Simulation::Downlink Simulation::opened(std::span<const std::byte> bytes) const {
  Downlink downlink{
      .message = message_from(bytes), .centres = {}, .bytes = static_cast<std::int64_t>(bytes.size())};
  if (const auto* policy = std::get_if<LocalPolicy>(&setup_.policy))
    downlink.centres = {setup_.algorithm.centres(downlink.message), params_, policy->by_tensor};
  return downlink;
}

SeenUplink Simulation::next_uplink(std::int64_t client) {
  const std::int64_t round = round_ + 1;
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  std::vector<std::int64_t> cohort{client};
  if (policy != nullptr) {
    cohort = cohort_of(round);
    if (!std::ranges::binary_search(cohort, client))
      cohort.insert(std::ranges::upper_bound(cohort, client), client);
  }
  const Downlink downlink = opened(next_downlink());
  std::vector<LocalResult> local = train_all(cohort, round, downlink, [] {});
  const LocalResult& own =
      local[static_cast<std::size_t>(std::ranges::find(cohort, client) - cohort.begin())];
  SeenUplink seen{.message = own.uplink, .gradients = own.gradients, .examples = {}};
  if (own.last_batch.defined()) {
    seen.examples = reader_.read(train_, own.last_batch, skew_of(client, 0));
  }
  if (policy == nullptr) return seen;
  std::vector<Message> uplinks;
  for (LocalResult& each : local) uplinks.push_back(std::move(each.uplink));
  const PrivateUplink sums = privatised(*policy, round, std::move(uplinks));
  Message means;
  for (const Message::Entry& entry : seen.message.entries()) {
    if (std::holds_alternative<Params>(entry.content)) {
      const Key<Params> key{entry.name.c_str()};
      means.put(key, sums.mean(key));
    }
  }
  seen.message = std::move(means);
  return seen;
}

results::RoundRecord Simulation::next_round() {
  const auto start = Clock::now();
  const std::int64_t round = round_ + 1;
  if (round == 1) check_label_counts();
  client_states_.settle();  // the round before is in the ledger on disk
  std::vector<std::int64_t> cohort = cohort_of(round);
  std::set<std::int64_t> spent = spent_;
  if (!spent.empty() && spent.size() == training_.size()) throw BudgetSpent();
  std::erase_if(cohort, [&](std::int64_t client) { return spent.contains(client); });
  const CostMeter meter(setup_.model, engine_, compute_);
  Rollback rollback(params_, server_state_, clip_norm_);
  RoundNotes notes;
  Server server = server_view(round, notes);

  const Downlink downlink = opened(encode(setup_.algorithm.broadcast(server)));
  if (!downlink.centres.vary()) check_forecast(round, cohort);
  std::atomic<std::int64_t> done = 0;
  std::vector<LocalResult> local = train_all(cohort, round, downlink, [&] {
    if (setup_.on_client) setup_.on_client(++done, static_cast<std::int64_t>(cohort.size()));
  });

  Ledger ledger = ledger_;
  try {
    leave_out_spent(cohort, local, spent, ledger);
  } catch (const BudgetSpent&) {
    ledger_ = std::move(ledger);  // of whom a round was withheld
    throw;
  }

  results::RoundRecord record;
  record.round = round;
  record.clients = static_cast<std::int64_t>(cohort.size());
  record.downlink_bytes = downlink.bytes * static_cast<std::int64_t>(cohort.size());
  std::vector<Message> uplinks;
  // Observations pass no mechanism on whole messages.
  const Unit hidden = unit(setup_.policy);
  const bool may_observe = hidden != Unit::kClient && hidden != Unit::kLocal;
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    record.uplink_bytes += local[index].uplink_bytes;
    record.examples += local[index].examples;
    ledger.record(round, cohort[index], local[index].accesses);
    if (may_observe) notes.observed.add(local[index].observed);
    uplinks.push_back(std::move(local[index].uplink));
  }
  // Without anybody who could pay, the model stays.
  if (!cohort.empty() || !has_own_budgets(setup_.policy)) aggregate(server, std::move(uplinks), ledger);
  if (round == 1) {
    RoundAccesses accesses = response_accesses_;
    if (setup_.tests_tell_label_counts) accesses.add(label_count_access(setup_.policy));
    if (!accesses.list().empty()) ledger.record_population(round, accesses);
  }
  notes.synthetic = in_pixels(notes.synthetic, reader_, setup_.model);
  try {
    check_budget(ledger);
  } catch (const BudgetSpent&) {
    if (ledger.varies()) ledger_.withhold(Ledger::kEverybody);
    throw;
  }
  const torch::Tensor labels = labels_after(round);
  if (unit(setup_.policy) != Unit::kNothing) record.epsilon = odometer_.epsilon(ledger).epsilon;
  record.observed = observed_means(notes.observed);
  if (hidden != Unit::kClient) record.choices = choices_of(cohort, notes.choices);
  record.cost = meter.cost();
  record.train_seconds = seconds_since(start);
  PendingStates states;
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    if (local[index].state != nullptr) states.emplace(cohort[index], std::move(local[index].state));
  }
  if (round % setup_.evaluate_every == 0 || round == setup_.rounds) {
    const auto evaluation_start = Clock::now();
    evaluate(record, states, ledger);
    record.evaluation_seconds = seconds_since(evaluation_start);
  }
  // Not on disk before the ledger. Nothing else may fail from here on.
  client_states_.stage(std::move(states));
  rollback.commit();
  for (std::size_t index = 0; index < cohort.size(); ++index) {
    const std::vector<std::int64_t>& own = canaries_.of(cohort[index]);
    const std::vector<double>& scores = local[index].canary_scores;
    for (std::size_t i = 0; i < scores.size(); ++i)
      gradient_scores_[static_cast<std::size_t>(own[i])] += scores[i];
  }
  for (const std::int64_t client : cohort) {
    if (has_own_budgets(setup_.policy) && !pays_again(client, ledger)) spent.insert(client);
  }
  if (labels.defined()) train_.targets = labels;
  spent_ = std::move(spent);
  ledger_ = std::move(ledger);
  synthetic_ = std::move(notes.synthetic);
  round_ = round;
  return record;
}

bool Simulation::repeatable() const {
  const Accounting* accounting = fedarena::accounting(setup_.policy);
  return accounting == nullptr || accounting->noise_source == kStreamNoise;
}

double Simulation::loss_of_canary(std::size_t canary, const Params& at) const {
  const InputSkew skew = skew_of(canaries_.clients()[canary], 0);
  const torch::Tensor position = torch::tensor({canaries_.places()[canary]}, torch::kInt64);
  return engine_
      .evaluate(at, 1, [&](std::int64_t, std::int64_t) { return reader_.read(train_, position, skew); })
      .loss_sum;
}

std::vector<double> Simulation::canary_scores() const {
  if (canaries_.size() == 0 || setup_.canaries.kind == kGradientCanaries) return gradient_scores_;
  std::vector<double> scores(static_cast<std::size_t>(canaries_.size()));
  const Params start = initial_params();
  const Params change = params_ - start;
  const double length = norm(change);
  setup_.pool.for_each(scores.size(), [&](std::size_t canary) {
    if (setup_.stop.load(std::memory_order_relaxed)) throw Interrupted();
    if (setup_.canaries.kind == kMislabelledCanaries) {
      scores[canary] = loss_of_canary(canary, start) - loss_of_canary(canary, params_);
    } else if (length > 0) {
      const Params direction = canaries_.direction(static_cast<std::int64_t>(canary), change);
      scores[canary] = dot(direction, change) / (norm(direction) * length);
    }
  });
  return scores;
}

}  // namespace fedarena
