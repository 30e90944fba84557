// FedLAP and FedLAP-DP against the definitions of their paper: the server's descent, the radius, what is read
// of the examples, what is sent.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "fedarena/accounting/rdp.hpp"
#include "fedarena/matching.hpp"
#include "fedarena/synthetic_sets.hpp"

#include "harness/oracle/example_reader.hpp"
#include "tests/conformance/workbench.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

constexpr Key<double> kRadius{"radius"};

std::string fedlap_text(const char* value) { return value; }

// A logistic regression in double precision, and clients whose "synthetic" sets are their own examples.
class FedLapServer : public ::testing::Test {
 protected:
  FedLapServer() {
    Stream stream({.seed = 3});
    for (const std::int64_t size : {4, 9, 2}) {
      sets.push_back({normal(stream, {size, 1, 2, 2}), torch::arange(size).remainder(3)});
    }
    start = bench.model.initial(stream);
  }

  std::vector<Message> messages(const std::vector<double>& radii = {9, 9, 9}) const {
    std::vector<Message> result;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      result.push_back({{kImages, sets[i].inputs},
                        {kLabels, sets[i].targets},
                        {kExamples, 10 * sets[i].size()},
                        {kRadius, radii[i]}});
    }
    return result;
  }

  Params descend(const Settings& settings, std::vector<Message> sent) const {
    return bench.aggregate(*plugins().create("fedlap", settings), start, std::move(sent));
  }

  // w <- w - rate * sum of weights_k * gradient(w, S_k), while w is nearer than the radius, at most `steps`
  // times.
  Params by_hand(double rate, const std::vector<double>& weights, double radius, int steps) const {
    Params params = start;
    for (int step = 0; step < steps && norm(params - start) < radius; ++step) {
      Params slope = zeros_like(params);
      for (std::size_t i = 0; i < sets.size(); ++i)
        slope += weights[i] * bench.model.gradient(params, sets[i]);
      params -= rate * slope;
    }
    return params;
  }

  Workbench bench{{.input_shape = {1, 2, 2}, .outputs = 3, .layers = {Flatten{}, Linear{4, 3}}}};
  std::vector<Batch> sets;
  Params start;
};
constexpr double kFedlapRate = 0.3;

// Synthetic sets that reproduce the clients' gradients exactly take the server where the examples would.
TEST_F(FedLapServer, DescendsOnTheWeightedSumOfEquation14) {
  const Params reached =
      descend({{"server_descent", fedlap_text("weighted")}, {"rate", kFedlapRate}, {"server_epochs", std::int64_t{12}}},
              messages());
  const Params expected = by_hand(kFedlapRate, {4 / 15.0, 9 / 15.0, 2 / 15.0}, kInfinity, 12);
  EXPECT_GT(norm(expected - start), 0.1);
  EXPECT_LE(norm(reached - expected), 1e-12);
}

TEST_F(FedLapServer, DescendsOnTheUnion) {
  const Params reached = descend({{"rate", kFedlapRate}, {"server_epochs", std::int64_t{12}}}, messages());
  // The mean over all images weighs sets by their sizes, which are proportional to N_k here.
  EXPECT_LE(norm(reached - by_hand(kFedlapRate, {4 / 15.0, 9 / 15.0, 2 / 15.0}, kInfinity, 12)), 1e-12);
  const Params in_batches =
      descend({{"rate", kFedlapRate}, {"server_epochs", std::int64_t{12}}, {"server_batch_size", std::int64_t{4}}},
              messages());
  EXPECT_GT(norm(in_batches - reached), 0.01);
}

TEST_F(FedLapServer, StopsExactlyWhereTheRadiusSays) {
  for (const double radius : {0.05, 0.2, 0.37}) {
    const Params expected = by_hand(kFedlapRate, {4 / 15.0, 9 / 15.0, 2 / 15.0}, radius, 100);
    EXPECT_GE(norm(expected - start), radius);
    for (const char* descent : {"weighted", "union"}) {
      const Params reached = descend({{"server_descent", fedlap_text(descent)},
                                      {"server_radius", fedlap_text("constant")},
                                      {"radius", radius},
                                      {"rate", kFedlapRate}},
                                     messages());
      EXPECT_LE(norm(reached - expected), 1e-12) << descent << ", " << radius;
    }
  }
}

TEST_F(FedLapServer, TakesItsRadiusFromTheClients) {
  const std::vector<double> radii{0.3, 0.1, 0.2};
  const auto with = [&](const char* strategy) {
    return descend({{"server_radius", fedlap_text(strategy)}, {"rate", 0.02}}, messages(radii));
  };
  const auto within = [&](double radius) {
    return by_hand(0.02, {4 / 15.0, 9 / 15.0, 2 / 15.0}, radius, 100);
  };
  EXPECT_LE(norm(with("min") - within(0.1)), 1e-12);
  EXPECT_EQ(bench.observed_mean("radius"), 0.1);
  EXPECT_NEAR(bench.observed_mean("distance"), norm(within(0.1) - start), 1e-12);
  EXPECT_LE(norm(with("median") - within(0.2)), 1e-12);
  EXPECT_LE(norm(with("max") - within(0.3)), 1e-12);
  EXPECT_LE(norm(with("none") - within(kInfinity)), 1e-12);
}

TEST_F(FedLapServer, DoesNotCareAboutTheOrderOfClients) {
  for (const char* descent : {"weighted", "union"}) {
    const Settings settings{{"server_descent", fedlap_text(descent)}, {"rate", kFedlapRate}};
    std::vector<Message> turned = messages();
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    EXPECT_LE(norm(descend(settings, messages()) - descend(settings, turned)), 1e-12) << descent;
  }
}

TEST_F(FedLapServer, BearsClientsThatSendNoImages) {
  std::vector<Message> sent = messages();
  sent[1] = {{kImages, torch::zeros({0, 1, 2, 2})},
             {kLabels, torch::zeros({0}, torch::kInt64)},
             {kExamples, std::int64_t{0}},
             {kRadius, 9.0}};
  const Params reached = descend(
      {{"server_descent", fedlap_text("weighted")}, {"rate", kFedlapRate}, {"server_epochs", std::int64_t{3}}}, sent);
  EXPECT_LE(norm(reached - by_hand(kFedlapRate, {4 / 6.0, 0, 2 / 6.0}, kInfinity, 3)), 1e-12);
  EXPECT_EQ(norm(descend({}, {sent[1]}) - start), 0);
}

// Clients, on tiny images.
class FedLapClients : public ::testing::Test {
 protected:
  static Settings settings(const Settings& more) {
    Settings all{{"images_per_class", std::int64_t{2}}, {"trajectories", std::int64_t{3}},
                 {"outer_steps", std::int64_t{2}},      {"real_batches", std::int64_t{4}},
                 {"image_updates", std::int64_t{2}},    {"model_steps", std::int64_t{1}},
                 {"server_epochs", std::int64_t{4}},    {"batch_size", std::int64_t{16}},
                 {"augmentation", fedlap_text("none")}};
    for (const auto& setting : more) all.push_back(setting);
    return all;
  }
  std::unique_ptr<TestRun> run(const std::string& algorithm, const Settings& more,
                               const TestRunOptions& options) const {
    return std::make_unique<TestRun>(task, algorithm, settings(more), options);
  }

  Task task = image_task("convnet", {{"depth", std::int64_t{2}}, {"width", std::int64_t{4}}});
};

TEST_F(FedLapClients, AskForExactlyTheGradientsOfTheAlgorithm) {
  RecordPolicy policy;
  const auto training = run("fedlap-dp", {{"radius", 100.0}}, {.rounds = 2, .policy = policy});
  training->finish();
  for (const auto& [client, record] : (*training)->ledger().clients()) {
    const double rate = std::min(1.0, 16 / static_cast<double>(record.examples));
    const std::vector<Access> expected{
        {SampledGaussian{Sampling::kPoisson, rate, {policy.noise_multiplier}, Adjacency::kAddRemove},
         3 * 2 * 4}};
    ASSERT_EQ(record.segments.size(), 1U);
    EXPECT_EQ(record.segments[0].accesses, expected) << "client " << client;
    EXPECT_EQ(record.segments[0].participations, 2);
  }
}

TEST_F(FedLapClients, AskForLessWhereTheyLeaveTheRadius) {
  const Settings early{{"radius", 1e-9}, {"rate", 0.1}};
  const auto training = run("fedlap-dp", early, {.rounds = 1, .policy = RecordPolicy()});
  training->finish();
  EXPECT_EQ(plugins().create("fedlap-dp", settings(early))->most_accesses(), 3 * 2 * 4);
  for (const auto& [client, record] : (*training)->ledger().clients()) {
    EXPECT_EQ(record.segments[0].accesses[0].count, 3 * 1 * 4) << "client " << client;
  }
}

// What is stated as the most is what clients ask for where nothing ends early.
TEST_F(FedLapClients, StateTheMostGradientsThatTheyAskFor) {
  for (const Settings& more : std::vector<Settings>{
           {{"radius", 100.0}},
           {{"radius", 100.0}, {"server_descent", fedlap_text("weighted")}, {"server_calibration", true}}}) {
    const auto training = run("fedlap-dp", more, {.rounds = 1, .policy = RecordPolicy()});
    training->finish();
    std::int64_t gradients = 0;
    for (const Access& access : (*training)->ledger().charged(0)) gradients += access.count;
    EXPECT_EQ(plugins().create("fedlap-dp", settings(more))->most_accesses(), gradients);
  }
}

// The options that read examples have their price, and the ledger its name for each.
TEST_F(FedLapClients, PayForWhatTheyReadOfTheExamples) {
  const auto epsilon_and_ledger = [&](const Settings& more, const RecordPolicy& policy) {
    const auto training = run("fedlap-dp", more, {.rounds = 1, .policy = policy});
    const double epsilon = (*training)->next_round().epsilon.value();
    return std::pair(epsilon, (*training)->ledger().to_json());
  };
  const RecordPolicy strict;
  EXPECT_TRUE(std::isfinite(epsilon_and_ledger({}, strict).first));
  const std::vector<std::tuple<Settings, std::string>> readers{
      {{{"classes", fedlap_text("held")}}, "\"classes\""},
      {{{"image_init", fedlap_text("real")}}, "\"examples\""},
      {{{"server_radius", fedlap_text("min")}}, "\"loss\""}};
  for (const auto& [more, access] : readers) {
    const auto [epsilon, ledger] = epsilon_and_ledger(more, strict);
    EXPECT_EQ(epsilon, kInfinity) << access;
    EXPECT_THAT(ledger, ::testing::HasSubstr(access));
  }
  // Gradients of the whole shard are noised like any other: dearer, but finite.
  const double by_gradient =
      epsilon_and_ledger({{"server_radius", fedlap_text("max")}, {"region", fedlap_text("gradient")}}, strict).first;
  EXPECT_TRUE(std::isfinite(by_gradient));
  EXPECT_GT(by_gradient, epsilon_and_ledger({}, strict).first);
  RecordPolicy open;
  open.public_classes = true;
  EXPECT_EQ(epsilon_and_ledger({{"classes", fedlap_text("held")}}, open).first,
            epsilon_and_ledger({}, strict).first);
}

// Header; for each entry a length, its name and a kind; tensors bring a type, their rank and their extents.
TEST_F(FedLapClients, SendImagesAndTheirLabels) {
  const auto bytes = [&](const char* encoding) {
    return (*run("fedlap-dp", {{"image_encoding", fedlap_text(encoding)}}, {.rounds = 1}))
        ->next_round()
        .uplink_bytes;
  };
  constexpr std::int64_t kClients = 4, kSet = 2 * 3, kPixels = 8 * 8;
  const std::int64_t single = bytes("float32"), eighth = bytes("uint8");
  constexpr std::int64_t kMost = 200;  // of headers, names and shapes
  EXPECT_GE(single, kClients * kSet * (4 * kPixels + 8));
  EXPECT_LE(single, kClients * (kSet * (4 * kPixels + 8) + kMost));
  EXPECT_GE(eighth, kClients * kSet * (kPixels + 8));
  EXPECT_LE(eighth, kClients * (kSet * (kPixels + 8) + kMost));
}

// By the first images' gradient and the shard's.
TEST_F(FedLapClients, ObserveTheDistanceThatTheyDescend) {
  const Workbench bench(task.model->architecture());
  Stream stream({.seed = 5});
  const Params start = bench.model.initial(stream);
  const Batch examples{normal(stream, {6, 1, 8, 8}), torch::tensor({0, 0, 1, 1, 2, 2}, torch::kInt64)};
  Batch images = examples;
  Stream noise = Workbench::client_streams()(Purpose::kSynthetic);
  images.inputs = normal(noise, {6, 1, 8, 8});
  OpenShard shard(bench.model, examples);
  bench.train(*plugins().create("fedlap", settings({{"image_init", fedlap_text("noise")},
                                                    {"server_radius", fedlap_text("constant")},
                                                    {"trajectories", std::int64_t{1}},
                                                    {"outer_steps", std::int64_t{1}},
                                                    {"real_batches", std::int64_t{1}},
                                                    {"image_updates", std::int64_t{1}},
                                                    {"batch_size", std::int64_t{0}}})),
              shard, {{kModel, start}});
  const double expected = matching_distance(bench.model.gradient(start, images),
                                            bench.model.gradient(start, examples), GradientMatching())
                              .value;
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(bench.observed_mean("matching-loss"), expected, 1e-9 * expected);
}

TEST_F(FedLapClients, CarryTheirImagesOverOnlyWhenTold) {
  for (const bool carry : {true, false}) {
    const auto training = run("fedlap-dp", {{"carry_images", carry}}, {.rounds = 2});
    training->finish();
    EXPECT_EQ((*training)->save().size() > 4 * 2 * 3 * 8 * 8 * 4, carry);
  }
}

// Keeps what clients sent.
class Recorder final : public Algorithm {
 public:
  explicit Recorder(std::unique_ptr<const Algorithm> inner, std::vector<Message>& sent)
      : inner_(std::move(inner)), sent_(sent) {}
  Message broadcast(const Server& server) const override { return inner_->broadcast(server); }
  Message train(Client& client, const Message& downlink) const override {
    return inner_->train(client, downlink);
  }
  void aggregate(Server& /*server*/, const Uplink& uplink) const override {
    sent_.assign(uplink.each().begin(), uplink.each().end());
  }

 private:
  std::unique_ptr<const Algorithm> inner_;
  std::vector<Message>& sent_;
};

// What the method is for: images that start as noise and whose gradient comes close to that of the examples.
TEST_F(FedLapClients, MatchTheGradientOfTheirExamples) {
  const GradientMatching cosine{.criterion = "cosine"};
  const auto distance_after = [&](std::int64_t updates, const char* augmentation) {
    std::vector<Message> sent;
    const Settings more = settings({{"trajectories", std::int64_t{1}},
                                    {"outer_steps", std::int64_t{1}},
                                    {"real_batches", updates / 2},
                                    {"batch_size", std::int64_t{0}},
                                    {"image_rate", 2.0},
                                    {"images_per_class", std::int64_t{5}},
                                    {"image_init", fedlap_text("noise")},
                                    {"criterion", fedlap_text("cosine")},
                                    {"augmentation", fedlap_text(augmentation)}});
    TestRun training(task.dataset, task.partition, *task.model,
                     std::make_unique<Recorder>(plugins().create("fedlap-dp", more), sent), {.rounds = 1});
    const Params start = training->params();
    training->next_round();
    double sum = 0;
    for (const Message& message : sent) {
      const auto client = static_cast<std::size_t>(&message - sent.data());
      const ExampleReader reader(task.dataset, task.model->options());
      const Batch examples =
          reader.read(task.dataset.train, torch::tensor(task.partition[client], torch::kInt64));
      sum += matching_distance(task.model->gradient(start, {message[kImages], message[kLabels]}),
                               task.model->gradient(start, examples), cosine)
                 .value;
    }
    return sum;
  };
  const double noise = distance_after(2, "none");
  EXPECT_LT(distance_after(120, "none"), 0.6 * noise);
  EXPECT_LT(distance_after(120, "flip_crop"), 0.8 * noise);
}

}  // namespace
}  // namespace fedarena
