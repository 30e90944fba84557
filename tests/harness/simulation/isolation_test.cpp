// What clients, the server and cells of a run may not share: messages, views of models, oracles.

#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/harness/simulation/small_runs.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

// LibTorch does not count writes through data(), and which clients would see them depends on the workers.
class Downlinks : public SmallRuns<> {
 protected:
  Downlinks() : SmallRuns({3, 1, 6}) {}
  // One round of so many clients.
  SimulationSetup round_of(const Algorithm& own, std::int64_t cohort) {
    const SimulationSetup setup = setup_on(pool, 1, cohort);
    return {.dataset = setup.dataset,
            .partition = setup.partition,
            .model = setup.model,
            .algorithm = own,
            .pool = pool,
            .stop = setup.stop,
            .seed = 4,
            .rounds = 1,
            .cohort_size = cohort};
  }
};

TEST_F(Downlinks, AreReadByAllAndWrittenByNobody) {
  class Writer final : public Algorithm {
   public:
    Message train(Client& client, const Message& downlink) const override {
      if (client.id == 2) downlink[kModel].flat().data().mul_(1.5);
      return {{kModel, downlink[kModel]}};
    }
    void aggregate(Server& server, const Uplink& uplink) const override {
      server.params = uplink.mean(kModel);
    }
  };
  const Writer writer;
  Simulation simulation(round_of(writer, 3));
  expect_refused("the message from the server was written to by the algorithm in train, round 1",
                 [&] { simulation.next_round(); });
}

// A tensor's deleter is the algorithm's own code, and runs when the accesses are written down.
TEST_F(Downlinks, AndOraclesAnswerNobodyOnceAClientHasTrained) {
  class Late final : public Algorithm {
   public:
    Message train(Client& client, const Message& downlink) const override {
      const auto ask = [this, &client](void* memory) {
        delete static_cast<double*>(memory);
        refusal = message_of([&] { (void)client.oracle.exact_batch(); });
      };
      client.state.put(Key<torch::Tensor>{"kept"},
                       torch::from_blob(new double(1), {1}, ask, torch::kFloat64));
      return {{kModel, downlink[kModel]},
              {Key<torch::Tensor>{"late"}, torch::from_blob(new double(1), {1}, ask, torch::kFloat64)}};
    }
    void aggregate(Server& server, const Uplink& uplink) const override {
      server.params = uplink.mean(kModel);
    }
    mutable std::string refusal;
  };
  const Late late;
  BegunRun simulation(round_of(late, 1), 1);
  EXPECT_THAT(late.refusal, HasSubstr("asked for examples after train() has returned"));
}

class Views : public SmallRuns<> {
 protected:
  Views() : SmallRuns({3, 1, 6}) {
    dataset.train.inputs = torch::zeros({10, 3, 1, 1}, torch::kUInt8);
    dataset.test.inputs = torch::zeros({7, 3, 1, 1}, torch::kUInt8);
    dataset.mean = dataset.deviation = {0.5, 0.5, 0.5};
    model =
        Model({.input_shape = {3, 1, 1}, .outputs = 2, .layers = {Flatten{}, Linear{3, 2}}}, torch::kFloat64);
  }
  double seen = 0;
};

TEST_F(Views, OfClientsCarryNothingToTheServer) {
  algorithm.on_train = [](Client& client, Params&) { client.pixel_range.data().fill_(7); };
  algorithm.on_aggregate = [&](Server& server) { seen = server.pixel_range.max().item<double>(); };
  BegunRun simulation(setup_on(pool, 1, 3), 1);
  EXPECT_EQ(seen, 1);
}

TEST_F(Views, OfTheServerCarryNothingToCellsOrOtherRounds) {
  SimulationSetup setup = setup_on(pool, 2, 3);
  setup.proxy = torch::zeros({2, 3, 1, 1});
  algorithm.on_aggregate = [&](Server& server) {
    seen += server.proxy.sum().item<double>();
    server.proxy.data().fill_(7);
  };
  BegunRun simulation(setup, 2);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(setup.proxy.max().item<double>(), 0);
}

TEST_F(Views, OfABroadcastChangeNothingOfTheServer) {
  const Key<torch::Tensor> grid{"grid"};
  algorithm.on_start = [&](Server& server) { server.state.put(grid, torch::zeros({2})); };
  algorithm.on_broadcast = [&](const Server& server) {
    server.params.flat().data().fill_(7);
    server.state[grid].data().fill_(7);
  };
  Simulation simulation(setup_on(pool, 1, 3));
  const Bytes before = simulation.save();
  (void)simulation.next_downlink();
  EXPECT_EQ(simulation.save(), before);
}

TEST_F(Views, OfARoundThatFailsLeaveTheServersTensors) {
  const Key<torch::Tensor> grid{"grid"};
  algorithm.on_start = [&](Server& server) { server.state.put(grid, torch::zeros({2})); };
  algorithm.on_aggregate = [&](Server& server) {
    server.state[grid].fill_(7);
    throw Error::of("a wrong setting");
  };
  Simulation simulation(setup_on(pool, 1, 3));
  EXPECT_THAT(refused_round(simulation), HasSubstr("a wrong setting"));
}

// Which of two threads asks first decides which answer is whose.
TEST_F(Downlinks, AndOraclesAnswerInTheirClientsThreadAlone) {
  algorithm.on_train = [](Client& client, Params& at) {
    std::exception_ptr failure;
    std::thread([&] {
      try {
        (void)client.oracle.gradient(at, {.batch_size = 1});
      } catch (...) {
        failure = std::current_exception();
      }
    }).join();
    if (failure) std::rethrow_exception(failure);
  };
  Simulation simulation(setup_on(pool, 1, 1));
  expect_refused("the oracle is asked for a gradient in a thread of the plugin's",
                 [&] { simulation.next_round(); });
}

// Kernels take shapes from the model, and beyond a tensor lie private examples of others.
class ComputeInputs : public SmallRuns<> {
 protected:
  ComputeInputs() : SmallRuns({3, 1, 6}) {}

  std::string refusal(const std::function<void(const Compute&, const Params&)>& ask) {
    algorithm.on_train = [ask](Client& client, Params& at) { ask(client.compute, at); };
    Simulation simulation(setup_on(pool, 1, 1));
    return test::message_or("nothing", [&] { simulation.next_round(); });
  }
  // Of an engine for colour images.
  std::string refusal_of_images(const torch::Tensor& inputs) {
    const Model colour(
        {.input_shape = {3, 4, 4}, .outputs = 2, .layers = {Conv2d{3, 2, 1, 0}, Flatten{}, Linear{32, 2}}},
        torch::kFloat32);
    return refusal([&](const Compute& compute, const Params&) {
      (void)compute.on(colour)->outputs(Params::zeros(colour.layout(), colour.options()), inputs);
    });
  }
};

TEST_F(ComputeInputs, HaveTheShapeAndTypeOfTheModels) {
  EXPECT_EQ(refusal_of_images(torch::zeros({2, 3, 4, 4})), "nothing");
  EXPECT_THAT(refusal_of_images(torch::zeros({2, 1, 4, 4})), HasSubstr("inputs have the shape [2, 1, 4, 4]"));
  EXPECT_THAT(refusal_of_images(torch::zeros({2, 1, 4, 4})),
              HasSubstr("allowed: [2, 3, 4, 4], as the model is made for"));
  EXPECT_THAT(refusal_of_images(torch::zeros({2, 3, 4, 4}, torch::kFloat64)),
              HasSubstr("inputs are of type Double"));
  EXPECT_THAT(refusal_of_images(torch::Tensor()), HasSubstr("inputs is an undefined tensor"));
}

TEST_F(ComputeInputs, GoWithTargetsSlopesAndParameters) {
  const torch::Tensor inputs = torch::zeros({4, 3}, model.options());
  const auto of_targets = [&](const torch::Tensor& targets) {
    return refusal([=](const Compute& compute, const Params& at) {
      (void)compute.gradient(at, {inputs, targets});
    });
  };
  EXPECT_EQ(of_targets(torch::zeros({4}, torch::kInt64)), "nothing");
  EXPECT_THAT(of_targets(torch::zeros({5}, torch::kInt64)), HasSubstr("targets have the shape [5]"));
  EXPECT_THAT(of_targets(torch::full({4}, 9, torch::kInt64)), HasSubstr("not all classes of the model"));
  EXPECT_THAT(refusal([&](const Compute& compute, const Params& at) {
                (void)compute.output_gradient(at, inputs, torch::zeros({4, 1}, model.options()));
              }),
              HasSubstr("slopes have the shape [4, 1]"));
  const Model other({.input_shape = {3}, .outputs = 3, .layers = {Linear{3, 3}}}, torch::kFloat32);
  EXPECT_THAT(refusal([&](const Compute& compute, const Params&) {
                (void)compute.outputs(Params::zeros(other.layout(), other.options()), inputs);
              }),
              HasSubstr("are not the model's"));
}

}  // namespace
}  // namespace fedarena
