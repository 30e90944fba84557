// Methods whose clients train on images of their own generators: PPPFL on linear regressions, against its
// first-order MAML, moving average, cosine and weights written out once more; what its phases do; and
// SDA-FL's pool.
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "fedarena/model_averaging.hpp"
#include "fedarena/synthetic_sets.hpp"

#include "harness/simulation/checkpoint.hpp"
#include "tests/conformance/quadratics.hpp"
#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/finite_differences.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

constexpr Key<Params> kQueryGradient{"gradient"};
constexpr Key<double> kClientBudget{"budget"};

// Kingma and Ba, Algorithm 1.
struct AdamByHand {
  Vector mean = {}, square = {};
  int steps = 0;

  Vector step(Vector x, const Vector& gradient, double rate) {
    mean.resize(x.size());
    square.resize(x.size());
    ++steps;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
      square[i] = 0.999 * square[i] + 0.001 * gradient[i] * gradient[i];
      const double m = mean[i] / (1 - std::pow(0.9, steps)), v = square[i] / (1 - std::pow(0.999, steps));
      x[i] -= rate * m / (std::sqrt(v) + 1e-8);
    }
    return x;
  }
};

// A client and a server that remember from call to call, in eight rounds of three clients.
class Rounds {
 public:
  explicit Rounds(Architecture architecture) : bench(std::move(architecture)) {}

  Message train(const Algorithm& algorithm, Oracle& oracle, const Message& downlink, std::int64_t round = 2,
                double budget = 0) {
    Client client = bench.client(oracle, client_state, round, 8, Workbench::client_streams(round));
    client.budget = budget;
    client.participations = participations++;
    return algorithm.train(client, downlink);
  }
  Server server_in(std::int64_t round) { return bench.server(server, round, 8, 3); }

  Workbench bench;
  LoneServer server{bench.zeros()};
  Message client_state;
  std::int64_t participations = 0;
};

class PppflOnQuadratics : public ::testing::Test {
 protected:
  // The first client of the federation is D*tr, the second D*val.
  PppflOnQuadratics() {
    const auto part = [&](std::size_t client) {
      const Examples& all = federation.task.dataset.train;
      const torch::Tensor positions = torch::tensor(federation.task.partition[client], torch::kInt64);
      return Batch{all.inputs.index_select(0, positions), all.targets.index_select(0, positions)};
    };
    const Batch support = part(0), query = part(1);
    rounds.client_state = {{Key<torch::Tensor>{"support_images"}, support.inputs},
                           {Key<torch::Tensor>{"support_labels"}, support.targets},
                           {Key<torch::Tensor>{"query_images"}, query.inputs},
                           {Key<torch::Tensor>{"query_labels"}, query.targets}};
  }

  Params point(std::uint64_t seed) const { return random_params(rounds.bench.model, seed); }
  const Quadratic& on_support() const { return federation.clients[0]; }
  const Quadratic& on_query() const { return federation.clients[1]; }

  Vector sent_from(const Algorithm& algorithm, const Params& global, std::int64_t round = 2) {
    OpenShard shard(rounds.bench.model, random_batch(rounds.bench.model, 3));
    const Message sent = rounds.train(algorithm, shard, {{kModel, global}}, round);
    EXPECT_TRUE(shard.accesses.empty()) << "it has its sets";
    return numbers_of(sent[kQueryGradient]);
  }

  QuadraticFederation federation = quadratic_federation({20, 4});
  Rounds rounds{federation.task.model->architecture()};
};

TEST_F(PppflOnQuadratics, SendsTheGradientOfTheQueryAfterStepsOfAdamOnTheSupport) {
  const auto algorithm = plugins().create(
      "pppfl", {{"batch_size", 0}, {"inner_epochs", 3}, {"inner_rate", 0.2}, {"start_average", 1.0}});
  const Vector start = numbers_of(point(3));
  Vector own = start;
  AdamByHand adam;
  for (int step = 0; step < 3; ++step) own = adam.step(own, on_support().gradient(own), 0.2);
  EXPECT_GT(length(on_query().gradient(own) - on_query().gradient(start)), 0.1);
  EXPECT_LE(length(sent_from(*algorithm, point(3)) - on_query().gradient(own)), 1e-10);
  // Adam begins anew, and there is no other memory.
  EXPECT_LE(length(sent_from(*algorithm, point(3), 3) - on_query().gradient(own)), 1e-10);
}

TEST_F(PppflOnQuadratics, TakesEveryExampleOnceAnEpoch) {
  const auto algorithm = plugins().create(
      "pppfl", {{"batch_size", 8}, {"inner_epochs", 2}, {"inner_rate", 0.2}, {"start_average", 1.0}});
  const std::int64_t before = rounds.bench.engine.work().gradients;
  sent_from(*algorithm, point(3));
  EXPECT_EQ(rounds.bench.engine.work().gradients - before, 2 * 20 + 4);
}

TEST_F(PppflOnQuadratics, StartsFromTheMovingAverageOfTheGlobalModels) {
  const auto algorithm = plugins().create(
      "pppfl", {{"batch_size", 0}, {"inner_epochs", 1}, {"inner_rate", 0.2}, {"start_average", 0.7}});
  Vector start = numbers_of(point(2));
  for (std::int64_t round = 2; round <= 5; ++round) {
    const Params global = point(static_cast<std::uint64_t>(round));
    start = 0.7 * numbers_of(global) + 0.3 * start;
    const Vector own = AdamByHand().step(start, on_support().gradient(start), 0.2);
    EXPECT_LE(length(sent_from(*algorithm, global, round) - on_query().gradient(own)), 1e-10) << round;
  }
}

TEST_F(PppflOnQuadratics, AveragesTheModelsWhenItIsFedAvg) {
  const auto algorithm = plugins().create(
      "pppfl", {{"aggregation", "average"}, {"batch_size", 0}, {"inner_rate", 0.2}, {"start_average", 1.0}});
  const Vector start = numbers_of(point(3));
  const Vector own = AdamByHand().step(start, on_support().gradient(start), 0.2);
  EXPECT_LE(length(start - sent_from(*algorithm, point(3)) - own), 1e-10);
  rounds.server.params = point(1);
  const Vector mean = 0.5 * (numbers_of(point(4)) + numbers_of(point(5)));
  const std::vector<Message> sent{{{kQueryGradient, point(1) - point(4)}},
                                  {{kQueryGradient, point(1) - point(5)}}};
  Server server = rounds.server_in(2);
  algorithm->aggregate(server, CohortUplink(sent));
  EXPECT_LE(length(numbers_of(rounds.server.params) - mean), 1e-10);
}

// Seven rounds that train, in cycles of three; budgets 1, 4 and 10 over a temperature of 2.
TEST_F(PppflOnQuadratics, ServerStepsByAdamAlongCosinesWithWeightsOfTheSoftmax) {
  for (const bool by_budget : {true, false}) {
    const auto algorithm = plugins().create("pppfl", {{"server_rate", 0.1},
                                                      {"cycles", 3},
                                                      {"weights", by_budget ? "budget" : "uniform"},
                                                      {"temperature", 2.0}});
    const std::vector<double> budgets{1, 4, 10};
    const double sum = std::exp(0.5) + std::exp(2.0) + std::exp(5.0);
    const std::vector<double> rates{0.1, 0.075, 0.025, 0.1, 0.075, 0.025, 0.1};
    rounds.server = {point(1)};
    Vector expected = numbers_of(rounds.server.params);
    AdamByHand adam;
    for (std::int64_t round = 1; round <= 8; ++round) {
      std::vector<Message> sent;
      Vector mean(expected.size());
      for (std::size_t k = 0; k < 3; ++k) {
        const Params gradient = point(10 * static_cast<std::uint64_t>(round) + k);
        sent.push_back(round == 1 ? Message()
                                  : Message{{kQueryGradient, gradient}, {kClientBudget, budgets[k]}});
        const double weight = by_budget ? std::exp(budgets[k] / 2) / sum : 1.0 / 3;
        mean = mean + weight * numbers_of(gradient);
      }
      if (round > 1) expected = adam.step(expected, mean, rates[static_cast<std::size_t>(round - 2)]);
      Server server = rounds.server_in(round);
      algorithm->aggregate(server, CohortUplink(std::move(sent)));
      ASSERT_LE(length(numbers_of(rounds.server.params) - expected), 1e-10) << "round " << round;
    }
  }
}

TEST_F(PppflOnQuadratics, SendsItsBudgetOrSaysThatItNeedsOne) {
  const auto algorithm = plugins().create("pppfl", {{"weights", "budget"}});
  OpenShard shard(rounds.bench.model, random_batch(rounds.bench.model, 3));
  const Message downlink{{kModel, point(1)}};
  const Client without = rounds.bench.client(shard, rounds.client_state, 1, 8, Workbench::client_streams(1));
  expect_refused("weights = \"budget\", but the clients have no budgets",
                 [&] { (void)algorithm->access_plan(without); });
  EXPECT_EQ(rounds.train(*algorithm, shard, downlink, 2, 7.5)[kClientBudget], 7.5);
}

Task tiny_images() {
  Task task = image_task("logistic", {});
  task.dataset.test = task.dataset.train;
  return task;
}

TEST(Pppfl, DrawsTheSetsInTheFirstRoundAndTrainsNothing) {
  const Task task = tiny_images();
  TestRun run(task, "pppfl", {{"generator", "noise"}, {"most_examples", 50}}, {.rounds = 3});
  const std::vector<double> initial = run.values();
  const std::int64_t sent = run->next_round().uplink_bytes;
  EXPECT_EQ(run.values(), initial);
  EXPECT_LT(sent, 4 * 100) << "four empty messages";
  // Shards of 300, 7, 40 and 81 examples.
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes{{50, 10}, {7, 1}, {40, 8}, {50, 10}};
  for (std::int64_t client = 0; client < 4; ++client) {
    const auto seen = run->next_uplink(client);
    EXPECT_TRUE(seen.message.contains("gradient"));
  }
  const Checkpoint memory = unpack_checkpoint(run->save(), *task.model);
  ASSERT_EQ(memory.client_states.held.size(), 4U);
  for (const auto& [client, bytes] : memory.client_states.held) {
    const Message state = decode(*bytes, task.model->layout(), torch::kCPU);
    const auto& [support, query] = sizes[static_cast<std::size_t>(client)];
    EXPECT_EQ(state[Key<torch::Tensor>{"support_images"}].size(0), support);
    EXPECT_EQ(state[Key<torch::Tensor>{"query_images"}].size(0), query);
    // Labels come in turn, but each set has its share of all.
    // Images come with their labels in turn; each set has some of all.
    const torch::Tensor& labels = state[Key<torch::Tensor>{"query_labels"}];
    EXPECT_EQ(at::bincount(labels).ne(0).sum().item<int>(), query > 3 ? 3 : 1);
  }
  run->next_round();
  EXPECT_NE(run.values(), initial);
}

struct Scores {
  double global = 0, clients = 0;
};

Scores scores_of(const Settings& settings) {
  const Settings fast{{"inner_rate", 0.01}, {"server_rate", 0.05}, {"personal_rate", 0.01}};
  const Task task = tiny_images();
  TestRun run(task, "pppfl", joined(fast, settings), {.rounds = 12, .test_clients = true});
  results::RoundRecord last;
  while (!run->finished()) last = run->next_round();
  return {*last.test_accuracy, last.per_client->accuracy_mean};
}

// Three classes.
TEST(Pppfl, LearnsFromRealExamplesAndNotFromNoise) {
  const Scores real = scores_of({{"generator", "real"}, {"adapt_on", "nothing"}});
  EXPECT_GE(real.global, 0.9);
  EXPECT_GE(real.clients, 0.9);
  EXPECT_LE(scores_of({{"generator", "noise"}, {"adapt_on", "nothing"}}).global, 0.6);
}

TEST(Pppfl, AdaptsToWhatItIsToldTo) {
  const Settings noise{{"generator", "noise"}, {"personal_epochs", 20}}, alone{{"server_rate", 0.0}};
  EXPECT_GE(scores_of(joined(noise, {{"adapt_on", "real"}})).clients, 0.9);
  EXPECT_LE(scores_of(joined(noise, {{"adapt_on", "synthetic"}})).clients, 0.6);
  const Scores local = scores_of(
      {{"generator", "real"}, {"personal_epochs", 20}, {"adapt_on", "synthetic"}, {"server_rate", 0.0}});
  EXPECT_GE(local.clients, 0.9);
  EXPECT_LE(local.global, 0.6) << "nobody trained it";
}

TEST(Pppfl, AdaptsNoClientToImagesThatItDoesNotHave) {
  const Task task = tiny_images();
  TestRun run(task, "pppfl", {{"generator", "noise"}, {"adapt_on", "synthetic"}},
              {.rounds = 2, .cohort_size = 1, .test_clients = true});
  expect_refused("has no synthetic images, because it did not train", [&] { run->next_round(); });
}

// A pool of two clients' images on a model of three classes.
class SdaFlPool : public ::testing::Test {
 protected:
  static constexpr double kConfidence = 0.6, kRate = 0.3;

  Message message_of_client(std::int64_t client, std::uint64_t seed, bool with_images) const {
    Message message{{kUpdate, random_params(rounds.bench.model, seed)},
                    {kExamples, std::int64_t{5}},
                    {Key<std::int64_t>{"client"}, client}};
    if (with_images) message.put(kImages, random_batch(rounds.bench.model, 6, seed).inputs);
    return message;
  }
  // The classes of a client's images by its model, and where it is sure of them.
  std::pair<torch::Tensor, torch::Tensor> said(const Message& message, const torch::Tensor& images,
                                               const Params& start) const {
    const auto [probability, label] =
        torch::softmax(rounds.bench.model.forward(start + message[kUpdate], images), 1).max(1);
    return {label, probability.ge(kConfidence)};
  }
  std::unique_ptr<const Algorithm> algorithm(std::int64_t epochs, double weight_decay = 0) const {
    return plugins().create("sda-fl", {{"weight_decay", weight_decay},
                                       {"confidence", kConfidence},
                                       {"weighting", "uniform"},
                                       {"server_epochs", epochs},
                                       {"server_batch_size", 100},
                                       {"pool_share", 0.25},
                                       {"generator", "noise"},
                                       {"synthetic_images", 9},
                                       {"local_steps", 1},
                                       {"batch_size", 0},
                                       {"rate", kRate}});
  }

  Rounds rounds{{.input_shape = {4}, .outputs = 3, .layers = {Linear{4, 3}}}};
};

TEST_F(SdaFlPool, IsLabelledByTheModelsOfThoseWhoMadeItWhereTheyAreSure) {
  const auto sda = algorithm(1);
  const Message first = message_of_client(0, 5, true), second = message_of_client(2, 6, true),
                again = message_of_client(2, 7, false);
  const auto aggregate = [&](std::int64_t round, std::vector<Message> sent) {
    Server server = rounds.server_in(round);
    sda->aggregate(server, CohortUplink(std::move(sent)));
    return sda->broadcast(server);
  };
  const Params start = rounds.server.params;
  const Message downlink = aggregate(1, {first, second});
  const auto [labels0, sure0] = said(first, first[kImages], start);
  const auto [labels2, sure2] = said(second, second[kImages], start);
  const torch::Tensor images = torch::cat({first[kImages], second[kImages]}),
                      labels = torch::cat({labels0, labels2}), sure = torch::cat({sure0, sure2});
  ASSERT_GT(sure.sum().item<int>(), 0);
  ASSERT_LT(sure.sum().item<int>(), 12);
  EXPECT_TRUE(rounds.server.synthetic.inputs.equal(images));
  EXPECT_TRUE(rounds.server.synthetic.targets.equal(labels));
  const Batch pool = Batch{images, labels}.select(sure.nonzero().flatten());
  EXPECT_TRUE(downlink[kImages].equal(pool.inputs));
  EXPECT_TRUE(downlink[kLabels].equal(pool.targets));
  // The mean of the updates, then one step on the pool.
  Params expected = start + 0.5 * (first[kUpdate] + second[kUpdate]);
  expected.add_scaled(-kRate, rounds.bench.model.gradient(expected, pool));
  EXPECT_LE(norm(rounds.server.params - expected), 1e-12);

  // Of the second client alone, by its new model, in the last round.
  const auto [newer, now_sure] = said(again, second[kImages], rounds.server.params);
  const Message next = aggregate(8, {again});
  EXPECT_FALSE(newer.equal(labels2));
  EXPECT_TRUE(rounds.server.synthetic.targets.equal(torch::cat({labels0, newer})));
  EXPECT_EQ(next[kLabels].size(0), (sure0.sum() + now_sure.sum()).item<std::int64_t>());
}

TEST_F(SdaFlPool, HasItsShareInTheGradientsOfClientsWhoUploadOnce) {
  constexpr double kDecay = 0.1;
  const auto sda = algorithm(1, kDecay);
  OpenShard shard(rounds.bench.model, random_batch(rounds.bench.model, 7, 3));
  const Batch pool = random_batch(rounds.bench.model, 6, 4);
  const Params start = random_params(rounds.bench.model, 8);
  const Message sent = rounds.train(*sda, shard, {{kModel, start}}, 1);
  EXPECT_EQ(sent[kImages].size(0), 9);
  const Params real = rounds.bench.model.gradient(start, shard.exact_batch());
  EXPECT_LE(norm(sent[kUpdate] + kRate * (real + kDecay * start)), 1e-12) << "there is no pool yet";
  const Message later =
      rounds.train(*sda, shard, {{kModel, start}, {kImages, pool.inputs}, {kLabels, pool.targets}}, 2);
  EXPECT_FALSE(later.contains(kImages.name));
  const Params expected = 0.75 * real + 0.25 * rounds.bench.model.gradient(start, pool);
  EXPECT_LE(norm(later[kUpdate] + kRate * (expected + kDecay * start)), 1e-12);
}

}  // namespace
}  // namespace fedarena
