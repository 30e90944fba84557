// FedLAP's clients against the definitions of their paper: what is read of the examples, what is paid for it,
// what is sent and what it is matched to; and that FedLAP and FedLAP-DP are one path.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fedarena/matching.hpp"
#include "fedarena/synthetic_sets.hpp"

#include "harness/oracle/example_reader.hpp"
#include "tests/conformance/workbench.hpp"
#include "tests/harness/sdk/forwarding.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// Clients, on tiny images.
class FedLapClients : public ::testing::Test {
 protected:
  static Settings settings(const Settings& more) {
    return joined({{"images_per_class", 2},
                   {"trajectories", 3},
                   {"outer_steps", 2},
                   {"real_batches", 4},
                   {"image_updates", 2},
                   {"model_steps", 1},
                   {"server_epochs", 4},
                   {"batch_size", 16},
                   {"augmentation", "none"}},
                  more);
  }
  std::unique_ptr<TestRun> run(const std::string& algorithm, const Settings& more,
                               const TestRunOptions& options) const {
    return std::make_unique<TestRun>(task, algorithm, settings(more), options);
  }

  Task task = image_task("convnet", {{"depth", 2}, {"width", 4}});
  // One client alone.
  const Workbench bench{task.model->architecture()};
  Stream stream{{.seed = 5}};
  const Params start = bench.model.initial(stream);
  const Batch examples{normal(stream, {6, 1, 8, 8}), torch::tensor({0, 0, 1, 1, 2, 2}, torch::kInt64)};
};

TEST_F(FedLapClients, AskForExactlyTheGradientsOfTheAlgorithm) {
  RecordPolicy policy;
  const auto training = run("fedlap-dp", {{"radius", 100.0}}, {.rounds = 2, .policy = policy});
  training->finish();
  for (const auto& [client, record] : (*training)->ledger().clients()) {
    const double rate = std::min(1.0, 16 / static_cast<double>(record.examples));
    const std::vector<Access> expected{
        {SampledGaussian{Sampling::kPoisson, rate, {policy.noise_multiplier.number()}, Adjacency::kZeroOut},
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
  for (const auto& [client, record] : (*training)->ledger().clients()) {
    const Access& made = record.segments[0].accesses[0];
    EXPECT_EQ(made.count, 3 * 1 * 4) << "client " << client;
    EXPECT_EQ(record.segments[0].unmade, (std::vector<Access>{{made.event, 3 * 1 * 4}}));
  }
}

// What they plan is what they ask for where nothing ends early, by kinds: a gradient of the whole shard costs
// more than a batch.
TEST_F(FedLapClients, PlanTheMostThatTheyAskFor) {
  const Settings calibrated{{"radius", 100.0}, {"server_descent", "weighted"}, {"server_calibration", true}};
  for (const Settings& more : std::vector<Settings>{
           {{"radius", 100.0}},
           calibrated,
           joined(calibrated, {{"server_radius", "max"}, {"region", "votes"}}),
           joined(calibrated, {{"server_radius", "max"}, {"region", "gradient"}, {"server_epochs", 1}}),
           {{"radius", 100.0}, {"batch_size", 0}}}) {
    const auto training = run("fedlap-dp", more, {.rounds = 2, .policy = RecordPolicy()});
    training->finish();
    for (const auto& [client, record] : (*training)->ledger().clients()) {
      ASSERT_EQ(record.segments.size(), 1U);
      ASSERT_TRUE(record.segments[0].unmade);
      EXPECT_THAT(*record.segments[0].unmade, IsEmpty()) << "client " << client;
    }
  }
}

// What was left out is charged at the price of its kind, under a budget, too.
TEST_F(FedLapClients, AreChargedTheirPlanWhateverTheRadius) {
  for (const double budget : {0.0, 1e6}) {
    RecordPolicy policy;
    policy.budget = budget;
    const auto epsilon = [&](double radius) {
      const auto training = run(
          "fedlap-dp", {{"radius", radius}, {"rate", 0.1}, {"server_radius", "max"}, {"region", "gradient"}},
          {.rounds = 1, .policy = policy});
      return (*training)->next_round().epsilon.value();
    };
    EXPECT_NEAR(epsilon(1e-9), epsilon(100), 1e-9);
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
  const std::vector<std::tuple<Settings, std::string>> readers{{{{"classes", "held"}}, "\"classes\""},
                                                               {{{"image_init", "real"}}, "\"examples\""},
                                                               {{{"server_radius", "min"}}, "\"loss\""}};
  for (const auto& [more, access] : readers) {
    const auto [epsilon, ledger] = epsilon_and_ledger(more, strict);
    EXPECT_EQ(epsilon, kInfinity) << access;
    EXPECT_THAT(ledger, HasSubstr(access));
  }
  // Gradients of the whole shard are noised like any other: dearer, but finite.
  const double by_gradient =
      epsilon_and_ledger({{"server_radius", "max"}, {"region", "gradient"}}, strict).first;
  EXPECT_TRUE(std::isfinite(by_gradient));
  EXPECT_GT(by_gradient, epsilon_and_ledger({}, strict).first);
  // One vote on the whole way costs less than a gradient of the whole shard at each of its points.
  const double by_vote = epsilon_and_ledger({{"server_radius", "max"}, {"region", "votes"}}, strict).first;
  EXPECT_LT(by_vote, by_gradient);
  EXPECT_GT(by_vote, epsilon_and_ledger({}, strict).first);
  RecordPolicy open;
  open.public_classes = true;
  EXPECT_EQ(epsilon_and_ledger({{"classes", "held"}}, open).first, epsilon_and_ledger({}, strict).first);
}

// Header; for each entry a length, its name and a kind; tensors bring a type, their rank and their extents.
TEST_F(FedLapClients, SendImagesAndTheirLabels) {
  const auto bytes = [&](const char* encoding) {
    return (*run("fedlap-dp", {{"image_encoding", encoding}}, {.rounds = 1}))->next_round().uplink_bytes;
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
  Batch images = examples;
  Stream noise = Workbench::client_streams()(Purpose::kSynthetic);
  images.inputs = normal(noise, {6, 1, 8, 8});
  OpenShard shard(bench.model, examples);
  bench.train(*plugins().create("fedlap", settings({{"image_init", "noise"},
                                                    {"server_radius", "constant"},
                                                    {"trajectories", 1},
                                                    {"outer_steps", 1},
                                                    {"real_batches", 1},
                                                    {"image_updates", 1},
                                                    {"batch_size", 0}})),
              shard, {{kModel, start}});
  const double expected = matching_distance(bench.model.gradient(start, images),
                                            bench.model.gradient(start, examples), GradientMatching())
                              .value;
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(bench.observed_mean("matching-loss"), expected, 1e-9 * expected);
}

// Without clipping and noise, the sum of all examples' losses is least where their mean is.
TEST_F(FedLapClients, MeasureTheSameRadiusByVotes) {
  const auto radius_by = [&](const char* region, double rate) {
    OpenShard shard(bench.model, examples);
    const Message sent = bench.train(*plugins().create("fedlap", settings({{"server_radius", "min"},
                                                                           {"region", region},
                                                                           {"radius", 100.0},
                                                                           {"rate", rate},
                                                                           {"server_epochs", 12}})),
                                     shard, {{kModel, start}});
    return sent[Key<double>{"radius"}];
  };
  // The start is none of the points, also where no epoch of a rate so large lowers the loss.
  for (const double rate : {0.02, 0.3, 5.0, 50.0}) {
    SCOPED_TRACE(rate);
    EXPECT_EQ(radius_by("votes", rate), radius_by("loss", rate));
    EXPECT_GT(radius_by("votes", rate), 0);
    EXPECT_GT(radius_by("gradient", rate), 0);
  }
}

TEST_F(FedLapClients, CarryTheirImagesOverOnlyWhenTold) {
  for (const bool carry : {true, false}) {
    const auto training = run("fedlap-dp", {{"carry_images", carry}}, {.rounds = 2});
    training->finish();
    EXPECT_EQ((*training)->save().size() > 4 * 2 * 3 * 8 * 8 * 4, carry);
  }
}

// What the method is for: images that start as noise and whose gradient comes close to that of the examples.
TEST_F(FedLapClients, MatchTheGradientOfTheirExamples) {
  const GradientMatching cosine{.criterion = "cosine"};
  const auto distance_after = [&](std::int64_t updates, const char* augmentation) {
    std::vector<Message> sent;
    const Settings more = settings({{"trajectories", 1},
                                    {"outer_steps", 1},
                                    {"real_batches", updates / 2},
                                    {"batch_size", 0},
                                    {"image_rate", 2.0},
                                    {"images_per_class", 5},
                                    {"image_init", "noise"},
                                    {"criterion", "cosine"},
                                    {"augmentation", augmentation}});
    auto recorder = std::make_unique<Replaced>(plugins().create("fedlap-dp", more));
    recorder->aggregate_with = [&](Server&, const Uplink& uplink) {
      sent.assign(uplink.each().begin(), uplink.each().end());
    };
    TestRun training(task, std::move(recorder), {.rounds = 1});
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

// Three classes of small images, and a regression on their labels: again the field is that of second moments.
class FedLapMatching : public ::testing::Test {
 protected:
  FedLapMatching() {
    Stream stream({.seed = 21});
    examples = {normal(stream, {60, 1, 2, 2}), torch::arange(60).remainder(3)};
    examples.inputs.select(2, 0) += 0.7 * examples.targets.view({-1, 1, 1}).to(torch::kFloat64);
    task.dataset.train = task.dataset.test = {examples.inputs, examples.targets};
    task.dataset.classes = 3;
    task.partition.emplace_back(60);
    std::iota(task.partition[0].begin(), task.partition[0].end(), 0);
    task.model = std::make_shared<Model>(Architecture{.input_shape = {1, 2, 2},
                                                      .outputs = 3,
                                                      .layers = {Flatten{}, Linear{4, 3}},
                                                      .loss = Loss::kSquaredError},
                                         torch::kFloat64);
  }

  Batch set_after(std::int64_t trajectories) {
    Batch sent;
    const Settings settings{{"images_per_class", 4},   {"image_init", "noise"},
                            {"server_radius", "none"}, {"trajectories", trajectories},
                            {"outer_steps", 5},        {"real_batches", 1},
                            {"image_updates", 2},      {"model_steps", 5},
                            {"batch_size", 0},         {"image_rate", 0.5},
                            {"rate", kRate},           {"criterion", "squared"},
                            {"augmentation", "none"}};
    auto keeper = std::make_unique<Replaced>(plugins().create("fedlap", settings));
    keeper->aggregate_with = [&](Server&, const Uplink& uplink) {
      sent = {uplink.each()[0][kImages], uplink.each()[0][kLabels]};
    };
    TestRun run(task, std::move(keeper), {.rounds = 1});
    origin = run->params();
    run->next_round();
    return sent;
  }

  // Points of gradient descent on a batch, from where the client started.
  std::vector<Params> way(const Batch& batch) const {
    std::vector<Params> points{origin};
    for (std::int64_t step = 0; step < kSteps; ++step) {
      points.push_back(points.back() - kRate * task.model->gradient(points.back(), batch));
    }
    return points;
  }

  struct Distances {
    double gradients = 0;     // mean over the way on the examples
    double trajectories = 0;  // where both end
  };
  Distances distances(const Batch& set) const {
    const std::vector<Params> real = way(examples);
    Distances result;
    for (const Params& point : real) {
      result.gradients += norm(task.model->gradient(point, set) - task.model->gradient(point, examples)) /
                          static_cast<double>(real.size());
    }
    result.trajectories = norm(way(set).back() - real.back());
    return result;
  }

  static constexpr double kRate = 0.2;
  static constexpr std::int64_t kSteps = 25;
  Task task;
  Batch examples;
  Params origin;
};

// Measured: 0.0054 of the gradients' distance after one walk and 0.0060 of the trajectories'; longer matching
// brings both down further, to 0.0004 after a thousand walks.
TEST_F(FedLapMatching, BringsTheWayOnNoiseToThatOnTheExamples) {
  const Distances early = distances(set_after(1)), late = distances(set_after(200));
  EXPECT_GT(early.trajectories, 0.2);
  EXPECT_LT(late.gradients, 0.02 * early.gradients);
  EXPECT_LT(late.trajectories, 0.02 * early.trajectories);
}

// FedLAP and FedLAP-DP are one path: nothing but the oracle's answers differs between a run without privacy
// and one whose mechanism neither clips nor noises.
//
// The policies answer with the same sum: "none" with that of gradients that are divided by their number
// before they are summed, "record" after. Where the number is a power of two, dividing is exact, both sums
// round alike, and the runs must be the same bits. For other numbers answers differ by their rounding.
class FedLapOnePath : public ::testing::Test {
 protected:
  struct Pair {
    std::unique_ptr<TestRun> none, record;
    double way = 0;  // from the initial weights, without privacy
    double difference() const { return norm((*none)->params() - (*record)->params()); }
    bool same() const { return same_bits((*none)->params(), (*record)->params()); }
  };

  Pair run(const std::string& model, torch::ScalarType dtype, const std::vector<std::int64_t>& sizes,
           const std::string& algorithm, const Settings& more = {}) {
    const Settings little{{"images_per_class", 2}, {"trajectories", 2},  {"outer_steps", 2},
                          {"real_batches", 2},     {"image_updates", 2}, {"model_steps", 2},
                          {"server_epochs", 4},    {"image_rate", 1.0},  {"rate", 0.1},
                          {"batch_size", 0}};
    const Settings settings = joined(little, more);
    Task task = image_task(model, {}, sizes);
    task.model = std::make_shared<Model>(task.model->architecture(), dtype);
    RecordPolicy idle;
    idle.clip_norm = kInfinity;
    idle.noise_multiplier = 0;
    Pair pair{.none = std::make_unique<TestRun>(task, algorithm, settings, TestRunOptions{.rounds = 2}),
              .record = std::make_unique<TestRun>(task, algorithm, settings,
                                                  TestRunOptions{.rounds = 2, .policy = idle})};
    const Params start = (*pair.none)->params();
    pair.none->finish();
    pair.record->finish();
    pair.way = norm((*pair.none)->params() - start);
    return pair;
  }
};

const std::vector<std::int64_t> kPowersOfTwo = {256, 8, 128, 1};

TEST_F(FedLapOnePath, WhoseAnswersAreTheSameBitsEndsInTheSameBits) {
  for (const char* model : {"logistic", "mlp"}) {
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
      for (const char* algorithm : {"fedlap", "fedlap-dp"}) {
        SCOPED_TRACE(testing::Message() << model << ", " << dtype << ", " << algorithm);
        const Pair pair = run(model, dtype, kPowersOfTwo, algorithm);
        EXPECT_TRUE(pair.same()) << pair.difference();
        EXPECT_GT(pair.way, 0.1);
      }
    }
  }
}

// Every option that reads the examples otherwise, too.
TEST_F(FedLapOnePath, HoldsForEveryOption) {
  for (const Settings& more : std::vector<Settings>{{{"region", "gradient"}},
                                                    {{"server_radius", "max"}},
                                                    {{"server_descent", "weighted"}},
                                                    {{"carry_images", true}},
                                                    {{"image_encoding", "uint8"}},
                                                    {{"augmentation", "none"}}}) {
    EXPECT_TRUE(run("logistic", torch::kFloat64, kPowersOfTwo, "fedlap", more).same()) << more[0].first;
  }
}

// Two names of one implementation.
TEST_F(FedLapOnePath, IsThatOfBothNames) {
  const Settings common{{"image_init", "noise"}, {"classes", "all"},       {"server_radius", "constant"},
                        {"radius", 1.5},         {"schedule", "constant"}, {"carry_images", true}};
  const Pair one = run("logistic", torch::kFloat64, kPowersOfTwo, "fedlap", common);
  const Pair other = run("logistic", torch::kFloat64, kPowersOfTwo, "fedlap-dp", common);
  EXPECT_TRUE(same_bits((*one.none)->params(), (*other.none)->params()));
}

// Rounding of 1e-16 that two rounds of matching enlarge: measured at 4e-13 of the way and less.
TEST_F(FedLapOnePath, DiffersByRoundingForOtherNumbers) {
  for (const char* algorithm : {"fedlap", "fedlap-dp"}) {
    const Pair pair = run("mlp", torch::kFloat64, {300, 7, 40, 81}, algorithm);
    EXPECT_LE(pair.difference(), 1e-10 * pair.way) << algorithm;
  }
}

}  // namespace
}  // namespace fedarena
