#include "harness/simulation/simulation.hpp"

#include <algorithm>

#include "harness/oracle/exact_oracle.hpp"
#include "harness/oracle/record_oracle.hpp"
#include "harness/simulation/cohort.hpp"
#include "harness/simulation/round_notes.hpp"

namespace fedarena {
namespace {

// What an epsilon of the run rests on beside sizes: what is looked at outside of the mechanisms.
std::vector<std::string> public_data(const SimulationSetup& setup) {
  std::vector<std::string> list;
  const Unit hidden = unit(setup.policy);
  if (hidden == Unit::kNothing) return list;
  if (setup.proxy.defined()) list.emplace_back("the server's proxy data");
  if (setup.initial_weights != nullptr) list.emplace_back("the initial weights");
  list.insert(list.end(), setup.dataset.read_off.begin(), setup.dataset.read_off.end());
  if (!setup.public_deal.empty()) list.push_back(setup.public_deal);
  // What clients are as a whole includes what they are tested on, be it by the scores of all together.
  if ((setup.client_tests != nullptr || setup.tests_are_of_clients) &&
      (hidden == Unit::kClient || hidden == Unit::kLocal))
    list.emplace_back("the clients' own test examples");
  // Their scores are written down, and a rule or whoever reads the best round may choose the model by them.
  if (setup.dataset.validation.size() > 0) list.emplace_back("the validation examples");
  if (!setup.held_out.empty()) list.emplace_back("the scores of held-out clients");
  return list;
}

// What a setup asks for: a control draws as it would, and adds nothing.
SimulationSetup own_setup(SimulationSetup setup) {
  if (!setup.canaries.control) return setup;
  if (auto* record = std::get_if<RecordPolicy>(&setup.policy)) record->noise_multiplier = 0;
  if (auto* client = std::get_if<ClientPolicy>(&setup.policy)) client->noise_multiplier = 0;
  return setup;
}

// What an algorithm writes to stays in the view that it was handed: through it, data would pass from client
// to client, round to round and cell to cell beside all mechanisms.
torch::Tensor copy_of(const torch::Tensor& tensor) { return tensor.defined() ? tensor.clone() : tensor; }

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
    : setup_(own_setup(setup)),
      training_(training_clients(setup)),
      canaries_(setup.canaries, setup.seed, setup.partition, setup.dataset.train, setup.dataset.classes,
                setup.model.layout()->numel()),
      train_(canaries_.apply(setup.dataset.train)),
      reader_(setup.dataset, setup.model.options()),
      engine_(setup.model, setup.pool),
      evaluator_({.dataset = setup_.dataset,
                  .reader = reader_,
                  .engine = engine_,
                  .stop = setup_.stop,
                  .client_tests = setup_.client_tests,
                  .held_out = setup_.held_out,
                  .test_skew =
                      [this](std::int64_t client) { return skew_of(client, setup_.dataset.train.size()); }}),
      compute_(engine_, setup.stop),
      client_states_(setup_.states),
      ledger_(unit(setup_.policy)),
      odometer_(accounting(setup_.policy)) {
  if (const auto* policy = std::get_if<ClientPolicy>(&setup_.policy)) clip_norm_ = policy->clip_norm;
  params_ = initial_params();
  ledger_.declare_public(public_data(setup_));
  if (setup_.canaries.kind == kGradientCanaries)
    gradient_scores_.assign(static_cast<std::size_t>(canaries_.size()), 0);
  for (std::size_t client = 0; client < setup_.partition.size(); ++client) {
    ledger_.add_client(static_cast<std::int64_t>(client),
                       static_cast<std::int64_t>(setup_.partition[client].size()));
  }
  // Of all rounds, before anything is trained: nothing that is known later can move a name.
  const Unit hidden = unit(setup_.policy);
  if (hidden == Unit::kLocal || hidden == Unit::kClient) {
    uplinks_.emplace_back();  // rounds begin with 1
    for (std::int64_t round = 1; round <= setup_.rounds + 1; ++round) {
      try {
        uplinks_.emplace_back(setup_.algorithm.uplink_entries(round));
      } catch (const Error&) {
        if (hidden == Unit::kLocal) throw;
        uplinks_.emplace_back();
      }
    }
  }
  RoundNotes unused;
  Server server = server_view(0, params_, server_state_, unused);
  setup_.algorithm.start(server);
  try_plan();
  randomise_labels();
}

Params Simulation::initial_params() const {
  if (setup_.initial_weights != nullptr) return *setup_.initial_weights;
  Stream weights(
      {.seed = setup_.seed, .round = 0, .client = kServer, .purpose = Purpose::kInitialWeights, .index = 0});
  return setup_.model.initial(weights);
}

Server Simulation::server_view(std::int64_t round, Params& params, Message& state, RoundNotes& notes) const {
  return {.round = round,
          .rounds = setup_.rounds,
          .population = population(),
          .params = params,
          .state = state,
          .model = setup_.model,
          .compute = compute_,
          .streams = streams_of(round, kServer).for_algorithm(),
          .synthetic = notes.synthetic,
          .observed = notes.observed,
          .choices = notes.choices,
          .proxy = copy_of(setup_.proxy),
          .pixel_range = copy_of(reader_.pixel_range())};
}

// Where the claim counts on nobody's knowing who was drawn. Under other policies it counts on nothing of the
// kind, and who takes part is public.
bool Simulation::draws_secret_cohorts() const {
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  return policy != nullptr && policy->noise_source == kSystemNoise;
}

std::vector<std::int64_t> Simulation::cohort_of(std::int64_t round) const {
  const auto* policy = std::get_if<ClientPolicy>(&setup_.policy);
  std::vector<std::int64_t> cohort = draw_cohort(setup_.seed, round, population(), setup_.cohort_size,
                                                 policy != nullptr ? policy->sampling : kWithoutReplacement,
                                                 draws_secret_cohorts() ? kSystemNoise : kStreamNoise);
  for (std::int64_t& client : cohort) client = training_[static_cast<std::size_t>(client)];
  return cohort;
}

InputSkew Simulation::skew_of(std::int64_t client, std::int64_t first) const {
  return input_skew(setup_.features, setup_.seed, client, static_cast<std::int64_t>(setup_.partition.size()),
                    first);
}

MeteredOracle::Setting Simulation::exact_setting(const Examples& examples, std::int64_t client) const {
  return {examples, reader_, setup_.model, engine_, setup_.stop, setup_.dataset.classes, skew_of(client, 0)};
}

torch::Tensor Simulation::shard_of(std::int64_t client) const {
  return tensor_of(setup_.partition[static_cast<std::size_t>(client)]);
}

Simulation::Past Simulation::past_in(const Ledger& ledger, std::int64_t client) const {
  const std::vector<Ledger::Segment>& segments = ledger.clients().at(client).segments;
  Past past{.participations = Ledger::participations_of(segments)};
  if (budget_of(setup_.policy, client) > 0) past.charged = Ledger::charged_of(segments);
  return past;
}

Simulation::Past Simulation::past_of(std::int64_t client) const {
  Past past = past_in(ledger_, client);
  past.state = client_states_.get(client);
  return past;
}

std::unique_ptr<MeteredOracle> Simulation::open_shard(std::int64_t client, std::int64_t round,
                                                      const Streams& streams,
                                                      const std::vector<Access>& charged) const {
  MeteredOracle::Setting setting = exact_setting(train_, client);
  setting.noise_source = accounting(setup_.policy).noise_source;
  setting.released_labels = responses_.has_value();
  if (const auto* policy = std::get_if<RecordPolicy>(&setup_.policy)) {
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
  return std::make_unique<ExactOracle>(setting, half ? halves_of(client).first : shard_of(client), streams);
}

Message Simulation::message_from(std::span<const std::byte> bytes) const {
  return decode(bytes, setup_.model.layout(), device());
}

Client Simulation::client_view(std::int64_t client, std::int64_t round, std::int64_t participations,
                               MeteredOracle& oracle, const Compute& compute, Message& state,
                               Observations& observed) const {
  return {.id = client,
          .round = round,
          .rounds = setup_.rounds,
          .oracle = oracle,
          .state = state,
          .model = setup_.model,
          .compute = compute,
          .streams = streams_of(round, client).for_algorithm(),
          .observed = observed,
          .budget = budget_of(setup_.policy, client),
          .pixel_range = copy_of(reader_.pixel_range()),
          .participations = participations};
}

DeclaredUplink Simulation::declared_uplink(std::int64_t client, std::int64_t round,
                                           std::int64_t examples) const {
  return {.entries = uplinks_.at(static_cast<std::size_t>(round)).value(),
          .examples = examples,
          .sender = fmt::format("client {} of {} in round {}", client, setup_.algorithm_name, round)};
}

Simulation::LocalResult Simulation::train_client(std::int64_t client, std::int64_t round,
                                                 const Downlink& downlink, const Past& past) const {
  LocalResult result;
  const Streams streams = streams_of(round, client);
  const std::unique_ptr<MeteredOracle> oracle = open_shard(client, round, streams, past.charged);
  Message state = past.state ? message_from(*past.state) : Message();
  Message asked;
  if (downlink.keeps_batches) {
    oracle->watch([&asked](const Params& at, const Params& gradient) {
      if (asked.contains(kSum.name))
        asked.put(kSum, asked[kSum] + gradient);
      else
        asked = {{kAskedAt, at}, {kSum, gradient}};
    });
  }
  oracle->recall(state);
  oracle->seal_in_votes(state, result.observed);
  std::optional<AccessPlan> plan;
  if (unit(setup_.policy) == Unit::kRecord) plan = plan_of(client, round, past.participations, *oracle);
  if (plan) oracle->hold_to_plan(downlink.look);
  const PublicCompute compute(compute_, oracle->casting_votes());
  Client view = client_view(client, round, past.participations, *oracle, compute, state, result.observed);
  // A copy of its own, gradients of its tensors included: what a client writes reaches no other, nor the
  // centres.
  const Message received = message_from(downlink.sent);
  Message message = setup_.algorithm.train(view, received);
  oracle->close("after train() has returned");
  check_unwritten(downlink.sent, received, round, "train");
  oracle->refuse_caught_failure();
  result.accesses = oracle->accesses();
  if (plan) result.accesses.leave_unmade(oracle->noised(unasked(*plan, oracle->asked(), view)));
  if (downlink.keeps_batches) {
    result.last_batch = oracle->last_batch();
    result.asked = encode(asked);
    result.unnoised = encode(message);
  }
  if (const auto* policy = std::get_if<LocalPolicy>(&setup_.policy)) {
    // What happens on the device stays there; what leaves it is all that is charged.
    result.accesses = {};
    randomise(message, declared_uplink(client, round, oracle->size()), of_client(*policy, client),
              downlink.centres, streams, result.accesses);
  }
  result.packed = encode(message);
  result.uplink_bytes = static_cast<std::int64_t>(result.packed.size());
  oracle->remember(state);
  if (!state.entries().empty()) result.state = std::make_shared<const Bytes>(encode(state));
  result.examples = oracle->gradient_examples();
  result.canary_scores = oracle->canary_scores();
  result.gradients = oracle->gradients();
  return result;
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
