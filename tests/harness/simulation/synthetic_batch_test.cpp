#include <stdexcept>

#include "fedarena/base/error.hpp"

#include "harness/simulation/round_notes.hpp"
#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// Inputs are two "images" of three channels and one pixel.
class SyntheticBatches : public SmallRuns<> {
 protected:
  SyntheticBatches() : SmallRuns({2, 2}) {
    algorithm.on_start = [](Server& server) { server.synthetic = {torch::ones({1, 3}), torch::zeros({1})}; };
    algorithm.on_broadcast = [](const Server& server) {
      EXPECT_FALSE(server.synthetic.inputs.defined()) << "left over from another round";
    };
    model =
        Model({.input_shape = {3, 1, 1}, .outputs = 2, .layers = {Flatten{}, Linear{3, 2}}}, torch::kFloat64);
    dataset.train.inputs =
        torch::tensor({0, 51, 102, 153, 204, 255, 1, 2, 3, 4, 5, 6}, torch::kUInt8).view({4, 3, 1, 1});
    dataset.test.inputs = dataset.train.inputs;
    dataset.test.targets = dataset.train.targets;
    dataset.mean = {0.1, 0.5, 0.25};
    dataset.deviation = {0.2, 1.0, 0.05};
  }
  SimulationSetup setup() const { return setup_on(pool, 9, 2); }
  // What is shown of a batch that the algorithm names.
  Batch shown(const Batch& batch) {
    algorithm.on_aggregate = [=](Server& server) { server.synthetic = batch; };
    Simulation simulation(setup());
    EXPECT_FALSE(simulation.synthetic().inputs.defined()) << "set in start()";
    simulation.next_round();
    return simulation.synthetic();
  }
  Batch examples() const {
    return ExampleReader(dataset, torch::kFloat64).read(dataset.train, torch::tensor({0, 1}));
  }

  const torch::Tensor pixels = torch::tensor({0.0F, 0.2F, 0.4F, 0.6F, 0.8F, 1.0F}).view({2, 3, 1, 1});
};

TEST_F(SyntheticBatches, ArriveInPixelUnits) {
  const Batch synthetic = shown(examples());
  EXPECT_EQ(synthetic.inputs.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(synthetic.inputs.is_contiguous());
  EXPECT_TRUE(torch::allclose(synthetic.inputs, pixels, 0, 1e-7)) << synthetic.inputs;
  EXPECT_TRUE(torch::equal(synthetic.targets, dataset.train.targets.slice(0, 0, 2)));
}

TEST_F(SyntheticBatches, KeepWhatLiesOutsideTheUnits) {
  const Batch bright = shown({torch::full({1, 3, 1, 1}, 30, torch::kFloat64), torch::tensor({1})});
  EXPECT_TRUE(torch::allclose(bright.inputs.flatten(), torch::tensor({6.1F, 30.5F, 1.75F})));
}

TEST_F(SyntheticBatches, StayAsTheyAreWithoutNormalisation) {
  dataset.mean.clear();
  dataset.deviation.clear();
  const torch::Tensor inputs = torch::tensor({-3.0, 0.5, 7.0}, torch::kFloat64).view({1, 3, 1, 1});
  EXPECT_TRUE(torch::equal(shown({inputs, torch::tensor({1})}).inputs, inputs.to(torch::kFloat32)));
}

TEST_F(SyntheticBatches, BelongToTheRoundThatIsCompleteAlone) {
  algorithm.on_aggregate = [&](Server& server) { server.synthetic = examples(); };
  BegunRun simulation(setup(), 1);
  const auto expect_the_first = [&] {
    EXPECT_EQ(simulation.rounds_done(), 1);
    EXPECT_TRUE(torch::allclose(simulation.synthetic().inputs, pixels, 0, 1e-7));
  };
  const auto other = [&](Server& server) {
    server.synthetic = {torch::zeros({1, 3, 1, 1}, torch::kFloat64), torch::tensor({1})};
  };
  algorithm.on_aggregate = [&](Server& server) {
    other(server);
    throw std::runtime_error("in aggregate");
  };
  EXPECT_THROW(simulation.next_round(), std::runtime_error);
  expect_the_first();
  algorithm.on_aggregate = [&](Server& server) {
    other(server);
    stop = true;  // the evaluation that follows ends the round
  };
  EXPECT_THROW(simulation.next_round(), Interrupted);
  expect_the_first();
  stop = false;
  algorithm.on_aggregate = {};
  simulation.next_round();
  EXPECT_FALSE(simulation.synthetic().inputs.defined()) << "this round named none";
}

TEST_F(SyntheticBatches, AreNotPartOfACheckpoint) {
  BegunRun without(setup(), 1);
  algorithm.on_aggregate = [&](Server& server) { server.synthetic = examples(); };
  BegunRun with(setup(), 1);
  EXPECT_EQ(with.save(), without.save());
  with.restore(without.save());
  EXPECT_FALSE(with.synthetic().inputs.defined());
}

TEST_F(SyntheticBatches, AreCopies) {
  for (const bool normalised : {true, false}) {
    if (!normalised) dataset.mean.clear(), dataset.deviation.clear();
    const Batch mine{torch::ones({1, 3, 1, 1}), torch::tensor({1})};
    const ExampleReader reader(dataset, torch::kFloat32);
    const Batch kept = in_pixels(mine, reader, model);
    const Batch before{kept.inputs.clone(), kept.targets.clone()};
    mine.inputs.zero_();
    mine.targets.zero_();
    EXPECT_TRUE(torch::equal(kept.inputs, before.inputs));
    EXPECT_TRUE(torch::equal(kept.targets, before.targets));
  }
}

TEST_F(SyntheticBatches, AreRefusedInAnotherForm) {
  const auto problem = [&](const Batch& batch) {
    algorithm.on_aggregate = [&](Server& server) { server.synthetic = batch; };
    Simulation simulation(setup());
    std::string message = message_of([&] { simulation.next_round(); });
    EXPECT_EQ(simulation.rounds_done(), 0);
    return message;
  };
  EXPECT_EQ(problem({torch::ones({2, 1, 3, 1}), torch::tensor({0, 1})}),
            "the algorithm's synthetic inputs have the shape [2, 1, 3, 1], their targets [2]; the model's "
            "inputs have "
            "[n, 3, 1, 1]");
  EXPECT_THAT(problem({torch::ones({2, 3, 1, 1}), torch::tensor({0})}), HasSubstr("their targets [1]"));
  EXPECT_THAT(problem({torch::ones({2, 3, 1, 1}), {}}), HasSubstr("their targets none"));
  EXPECT_THAT(problem({{}, torch::tensor({0})}), HasSubstr("have the shape none"));
  for (const torch::Tensor& labels :
       {torch::tensor({0, 1}, torch::kInt32), torch::tensor({0.5, 0.5}), torch::tensor({0, 2}),
        torch::tensor({-1, 0}), torch::tensor({{0, 1}, {1, 0}})})
    EXPECT_THAT(problem({torch::ones({2, 3, 1, 1}), labels}), HasSubstr("; allowed: classes from 0 to 1"));
}

TEST_F(SyntheticBatches, OfClassProbabilitiesAreShownByTheLikeliest) {
  const ExampleReader reader(dataset, torch::kFloat32);
  const Batch soft{torch::ones({2, 3, 1, 1}), torch::tensor({{0.2, 0.8}, {0.7, 0.3}})};
  EXPECT_TRUE(torch::equal(in_pixels(soft, reader, model).targets, torch::tensor({1, 0})));
  EXPECT_FALSE(in_pixels({torch::ones({0, 3, 1, 1}), torch::zeros({0})}, reader, model).inputs.defined());
}

TEST(ToArray, KeepsShapeOrderAndKind) {
  const results::Array floats = to_array(torch::arange(6, torch::kFloat32).view({2, 3}));
  EXPECT_EQ(floats, (results::Array{{2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5}}));
  EXPECT_EQ(to_array(torch::tensor({0.5, -1.0}, torch::kFloat64)),
            (results::Array{{2}, std::vector<float>{0.5, -1}}));
  EXPECT_EQ(to_array(torch::tensor({7, -8})), (results::Array{{2}, std::vector<std::int64_t>{7, -8}}));
}

}  // namespace
}  // namespace fedarena
