// Dataset condensation against loops by hand, and the federation that it asks for.
#include "tests/conformance/condensation.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using Dsc = Condensing;
using Psg = Condensing;

TEST_F(Dsc, RefusesAFederation) {
  const auto algorithm = plugins().create("dsc", {});
  bench.start(*algorithm, 1, 1);
  expect_refused("set partition.clients = 1", [&] { bench.start(*algorithm, 2, 1); });
}

TEST_F(Dsc, MatchesTheGradientsOfEachClassAlongTheWayOfEachModel) {
  constexpr double kImageRate = 0.05, kImageMomentum = 0.5, kRate = 0.1, kMomentum = 0.7;
  const Batch set =
      CondensationByHand{kImageRate, kRate, kImageMomentum, kMomentum}.set_for(examples, bench.model);
  const Batch reached = train("dsc", {{"initialisations", 2},
                                      {"outer_steps", 2},
                                      {"model_epochs", 1},
                                      {"batch_size", 0},
                                      {"images_per_class", 2},
                                      {"image_init", "noise"},
                                      {"augmentation", "none"},
                                      {"image_rate", kImageRate},
                                      {"rate", kRate},
                                      {"momentum", kMomentum}});
  EXPECT_TRUE(reached.targets.equal(set.targets));
  EXPECT_LE((reached.inputs - set.inputs).abs().max().item<double>(), 1e-7);
  EXPECT_EQ(accesses, (std::vector<std::string>{"classes", "examples"}));
}

// Both sides see the same augmentation: nothing is left to do for a set that is the examples.
TEST_F(Dsc, LeavesASetThatIsTheExamples) {
  examples = {examples.inputs.narrow(0, 0, 4), torch::tensor({2, 0, 0, 2}, torch::kInt64)};
  const Batch set = train("dsc", {{"initialisations", 3},
                                  {"outer_steps", 3},
                                  {"model_epochs", 1},
                                  {"batch_size", 0},
                                  {"images_per_class", 2},
                                  {"image_rate", 0.5}});
  const torch::Tensor expected = examples.inputs.index_select(0, torch::tensor({1, 2, 0, 3}, torch::kInt64));
  EXPECT_LE((set.inputs - expected).abs().max().item<double>(), 1e-10);
}

TEST_F(Dsc, TrainsTheServerOnTheSet) {
  constexpr double kRate = 0.1, kMomentum = 0.9, kDecay = 0.01;
  constexpr int kEpochs = 5;
  const Batch set = random_batch(bench.model, 6);
  Stream stream({.seed = 8});
  const Params start = bench.model.initial(stream);
  Params expected = start, velocity = zeros_like(start);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    velocity = kMomentum * velocity + bench.model.gradient(expected, set) + kDecay * expected;
    expected -= (epoch < 3 ? kRate : kRate / 10) * velocity;
  }
  const auto algorithm = plugins().create("dsc", {{"augmentation", "none"},
                                                  {"rate", kRate},
                                                  {"server_epochs", kEpochs},
                                                  {"server_momentum", kMomentum},
                                                  {"server_weight_decay", kDecay}});
  EXPECT_LE(norm(bench.aggregate(*algorithm, start, {sent_set(set, 6)}) - expected), 1e-12);
  EXPECT_GT(norm(expected - start), 0.1);
  EXPECT_EQ(norm(bench.aggregate(*algorithm, start, {}) - start), 0);
}

// PSG against its loop by hand: two models of two points, two private gradients at each. A shard without a
// policy answers with whole gradients.
TEST_F(Psg, MatchesGradientsOfAllClassesAtOnceAlongTheWayOfEachModel) {
  constexpr double kImageRate = 0.05, kImageMomentum = 0.5, kRate = 0.1;
  const GradientMatching cosine{.criterion = "cosine"};
  const Streams streams = Workbench::client_streams();
  Stream noise = streams(Purpose::kSynthetic), weights = streams(Purpose::kSynthetic, 1);
  Batch set{normal(noise, {6, 1, 3, 3}), torch::tensor({0, 0, 1, 1, 2, 2}, torch::kInt64)};
  torch::Tensor velocity = torch::zeros_like(set.inputs);
  double distances = 0;
  for (int initialisation = 0; initialisation < 2; ++initialisation) {
    Params model = bench.model.initial(weights);
    for (int point = 0; point < 2; ++point) {
      if (point > 0) model -= kRate * bench.model.gradient(model, set);
      const Params target = bench.model.gradient(model, examples);
      for (int batch = 0; batch < 2; ++batch) {
        const auto distance = [&] {
          return matching_distance(bench.model.gradient(model, set), target, cosine).value;
        };
        distances += distance();
        velocity = kImageMomentum * velocity + central_differences(set.inputs, distance);
        set.inputs = set.inputs - kImageRate * velocity;
      }
    }
  }
  EXPECT_GT(velocity.abs().max().item<double>(), 1e-2);

  const Batch reached = train("psg", {{"initialisations", 2},
                                      {"outer_steps", 2},
                                      {"model_epochs", 1},
                                      {"real_batches", 2},
                                      {"images_per_class", 2},
                                      {"image_rate", kImageRate},
                                      {"rate", kRate}});
  EXPECT_TRUE(reached.targets.equal(set.targets));
  EXPECT_LE(largest_difference(reached.inputs, set.inputs), 1e-7);
  EXPECT_NEAR(bench.observed_mean("matching-loss"), distances / 8, 1e-9);
  EXPECT_EQ(accesses, std::vector<std::string>(8, "gradient"));
}

// One batch of both sets, so that the order does not matter.
TEST_F(Psg, TrainsTheServerOnTheUnion) {
  constexpr double kRate = 0.1;
  const std::vector<Batch> sets{random_batch(bench.model, 4, 1), random_batch(bench.model, 3, 2)};
  std::vector<Message> sent;
  for (const Batch& set : sets) sent.push_back(sent_set(set, 99));
  Stream stream({.seed = 8});
  const Params start = bench.model.initial(stream);
  const auto algorithm =
      plugins().create("psg", {{"rate", kRate}, {"server_epochs", 1}, {"server_weight_decay", 0.0}});
  const Params expected = start - kRate * bench.model.gradient(start, union_of(sets));
  EXPECT_LE(norm(bench.aggregate(*algorithm, start, sent) - expected), 1e-12);
}

TEST(PsgSettings, AreCheckedBeforeARun) {
  EXPECT_EQ(plugins().info("psg").description.requires_policy, "record");
  expect_refused("rotat", [] { plugins().create("psg", {{"server_augmentation", "crop_rotat"}}); });
}

// FedDM against the definition of its distance, and its ball around the global model.

// One step at the global model itself, along the whole classes, from noise.
Settings one_step(const Settings& more) {
  return joined({{"iterations", 1},
                 {"batch_size", 0},
                 {"images_per_class", 2},
                 {"image_init", "noise"},
                 {"image_momentum", 0.0},
                 {"rho", 1e-12}},
                more);
}

class FedDm : public ::testing::Test {
 protected:
  FedDm() {
    Stream stream({.seed = 3});
    start = bench.model.initial(stream);
    // Classes 0 and 2.
    examples = {normal(stream, {5, 1, 4, 4}), torch::tensor({2, 0, 0, 2, 2}, torch::kInt64)};
  }

  Batch train(const Settings& settings) {
    OpenShard shard(bench.model, examples);
    return decode_set(bench.train(*plugins().create("feddm", settings), shard, {{kModel, start}}),
                      torch::kFloat64);
  }

  // All but the last map of the model, of whose weights it takes the first.
  torch::Tensor features(const torch::Tensor& images) const {
    const std::int64_t numbers = body_model.layout()->numel();
    return body_model.forward({body_model.layout(), start.flat().narrow(0, 0, numbers)}, images);
  }

  std::vector<Layer> body{Conv2d{1, 2, 3, 1}, GroupNorm{1, 2}, Relu{}, AveragePool{2}, Flatten{}};
  Model body_model{{.input_shape = {1, 4, 4}, .outputs = 8, .layers = body}, torch::kFloat64};
  Workbench bench{[this] {
    Architecture whole{.input_shape = {1, 4, 4}, .outputs = 3, .layers = body};
    whole.layers.emplace_back(Linear{8, 3});
    return whole;
  }()};
  Params start;
  Batch examples;
};

TEST_F(FedDm, StepsAlongTheDerivativeOfItsDistance) {
  const auto squared_distance = [](const torch::Tensor& left, const torch::Tensor& right) {
    return (left.mean(0) - right.mean(0)).square().sum().item<double>();
  };
  const std::vector<std::int64_t> classes{0, 2};

  Stream stream = Workbench::client_streams()(Purpose::kSynthetic);
  torch::Tensor images = normal(stream, {4, 1, 4, 4});
  const auto distance = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const torch::Tensor own = images.narrow(0, 2 * static_cast<std::int64_t>(i), 2);
      const torch::Tensor real = of_class(examples, classes[i]).inputs;
      sum += squared_distance(features(own), features(real));
      sum += squared_distance(bench.model.forward(start, own), bench.model.forward(start, real));
    }
    return sum;
  };
  const double first = distance();
  const torch::Tensor slope = central_differences(images, distance);
  EXPECT_GT(slope.abs().max().item<double>(), 1e-3);

  const Batch set = train(one_step({{"image_rate", 0.5}}));
  EXPECT_TRUE(set.targets.equal(torch::tensor({0, 0, 2, 2}, torch::kInt64)));
  EXPECT_LE((set.inputs - (images - 0.5 * slope)).abs().max().item<double>(), 1e-8);
  EXPECT_NEAR(bench.observed_mean("matching-loss"), first / 2, 1e-12) << "mean over the two classes";
}

// Both sides see the same weights and the same augmentation: nothing is left to do for a set that is the
// examples.
TEST_F(FedDm, LeavesASetThatIsTheExamples) {
  examples = {examples.inputs.narrow(0, 0, 4), torch::tensor({2, 0, 0, 2}, torch::kInt64)};
  const Settings settings{{"iterations", 6},
                          {"batch_size", 0},
                          {"images_per_class", 2},
                          {"augmentation", "color_crop_cutout_flip_scale_rotate"}};
  const Batch set = train(settings);
  // Drawn in ascending order, all of them.
  const torch::Tensor expected = examples.inputs.index_select(0, torch::tensor({1, 2, 0, 3}, torch::kInt64));
  EXPECT_LE((set.inputs - expected).abs().max().item<double>(), 1e-10);
}

TEST_F(FedDm, ReadsItsExamplesOnceForAllSteps) {
  OpenShard shard(bench.model, examples);
  bench.train(*plugins().create("feddm", one_step({})), shard, {{kModel, start}});
  EXPECT_EQ(shard.accesses, (std::vector<std::string>{"classes", "examples"}));
}

// Without clipping and noise, a sum of votes is what the examples themselves say, each cut to the bound.
TEST_F(FedDm, StepsTowardsTheMeanOfItsVotes) {
  const Settings own = one_step({{"classes", "all"}, {"image_rate", 0.5}});
  const auto by_votes = [&](double bound) {
    return train(joined({{"class_means", "votes"}, {"feature_bound", bound}}, own)).inputs;
  };
  const torch::Tensor all_of_each = train(own).inputs;
  EXPECT_LE((by_votes(1e3) - all_of_each).abs().max().item<double>(), 1e-12);

  // A bound below every length: the target of a class is its mean direction, times the bound.
  const double bound = 1e-3;
  const torch::Tensor head = start[start.size() - 2];
  const torch::Tensor vectors = features(examples.inputs);
  const torch::Tensor directions = bound * vectors / vectors.norm(2, {1}, true);
  Stream stream = Workbench::client_streams()(Purpose::kSynthetic);
  torch::Tensor images = normal(stream, {6, 1, 4, 4});
  const torch::Tensor slope = central_differences(images, [&] {
    double sum = 0;
    for (const std::int64_t label : {0, 2}) {
      const torch::Tensor real =
          directions.index_select(0, examples.targets.eq(label).nonzero().flatten()).mean(0);
      const torch::Tensor apart = features(images.narrow(0, 2 * label, 2)).mean(0) - real;
      sum += (apart.square().sum() + head.mv(apart).square().sum()).item<double>();
    }
    return sum;
  });
  EXPECT_LE((by_votes(bound) - (images - 0.5 * slope)).abs().max().item<double>(), 1e-8);
}

TEST_F(FedDm, IsPrivateWhereItAsksForVotes) {
  const Task task = image_task("convnet", {{"depth", 2}, {"width", 4}});
  const auto epsilon_of = [&](const Settings& more) {
    TestRun run(task, "feddm", joined(one_step({{"classes", "all"}}), more),
                {.rounds = 1, .policy = RecordPolicy()});
    return run->next_round().epsilon.value();
  };
  EXPECT_EQ(epsilon_of({}), kInfinity);
  const double once = epsilon_of({{"class_means", "votes"}});
  EXPECT_TRUE(std::isfinite(once));
  EXPECT_GT(epsilon_of({{"class_means", "votes"}, {"iterations", 2}}), once);
}

TEST_F(FedDm, StopsWhereTheUserStopsTheRun) {
  bench.stop = true;
  EXPECT_THROW(train(one_step({})), Interrupted);
}

// A model of one weight w and a bias, whose feature is its input x: the distance of one image from one
// example at 0 is (1 + w^2) x^2, and the length of a step tells w.
TEST(FedDmWeights, LieInTheBall) {
  constexpr double kCentre = 10, kRho = 0.5, kRate = 1e-3;
  const Workbench bench({.input_shape = {1}, .outputs = 1, .layers = {Linear{1, 1}}});
  const Params centre(bench.model.layout(), torch::tensor({kCentre, 0.0}, torch::kFloat64));
  const auto algorithm =
      plugins().create("feddm", one_step({{"rho", kRho}, {"image_rate", kRate}, {"images_per_class", 1}}));
  double least = 0, most = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    OpenShard shard(bench.model, {torch::zeros({1, 1}, torch::kFloat64), torch::zeros({1}, torch::kInt64)});
    const Streams streams(seed, 1, 0);
    const Message sent = bench.train(*algorithm, shard, {{kModel, centre}}, streams);
    Stream noise = streams(Purpose::kSynthetic);
    const double from = noise.normal(), to = sent[kImages].item<double>();
    const double offset = std::sqrt((from - to) / (2 * kRate * from) - 1) - kCentre;
    EXPECT_LE(std::abs(offset), kRho + 1e-9);
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  EXPECT_LE(least, -0.9 * kRho);
  EXPECT_GE(most, 0.9 * kRho);
}

TEST_F(FedDm, TrainsTheServerOnTheUnionUntilItLeavesTheBall) {
  constexpr double kRate = 0.2;
  const std::vector<Batch> sets{random_batch(bench.model, 4, 1), random_batch(bench.model, 3, 2)};
  const Batch everything = union_of(sets);
  std::vector<Message> sent;
  for (const Batch& set : sets) sent.push_back(sent_set(set, 99));
  for (const double rho : {0.05, 0.3, 1e9}) {
    constexpr int kEpochs = 12;
    Params expected = start;
    for (int step = 0; step < kEpochs && norm(expected - start) < rho; ++step) {
      expected -= kRate * bench.model.gradient(expected, everything);
    }
    const auto algorithm =
        plugins().create("feddm", {{"rho", rho}, {"rate", kRate}, {"server_epochs", kEpochs}});
    EXPECT_LE(norm(bench.aggregate(*algorithm, start, sent) - expected), 1e-12) << rho;
    EXPECT_EQ(norm(expected - start) >= rho, rho < 1);
  }
}

TEST(FedDmModel, MustEndInAnAffineMap) {
  const Workbench bench({.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}, Relu{}}});
  OpenShard shard(bench.model, {torch::zeros({1, 2}, torch::kFloat64), torch::zeros({1}, torch::kInt64)});
  const auto algorithm = plugins().create("feddm", one_step({}));
  expect_refused("this model has no such layer of its own", [&] {
    bench.train(*algorithm, shard, {{kModel, bench.zeros()}});
  });
}

}  // namespace
}  // namespace fedarena
