// On a GPU: what the engine and noise compute is what they compute on the CPU, to rounding where LibTorch has
// its part and to the bit where it has none; twice the same bits; and no clipped sum exceeds its bound. Not
// among ctest's tests; scripts/gpu-check runs it.
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "fedarena/matching.hpp"

#include "harness/gradients/cuda/lane.hpp"
#include "harness/loader/shared_torch.hpp"
#include "harness/models/zoo.hpp"
#include "harness/oracle/random_source.hpp"
#include "harness/runner/plan/device.hpp"
#include "tests/harness/gradients/one_at_a_time.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

torch::Device gpu() { return device_of("cuda"); }

Params on_gpu(const Params& params) { return {params.layout(), params.flat().to(gpu())}; }
torch::Tensor on_cpu(const torch::Tensor& tensor) { return tensor.to(torch::kCPU, torch::kFloat64); }

// All that an engine computes of these examples, one tensor after the other.
std::vector<torch::Tensor> all_of(const GradientEngine& engine, const Params& at, const Params& direction,
                                  const Batch& batch, double clip_norm) {
  const std::int64_t count = batch.size();
  const auto source = slices_of(batch);
  const Score score = engine.evaluate(at, count, source);
  const torch::Tensor outputs = engine.outputs(at, batch.inputs);
  const Compute::OutputGradient by_outputs = engine.output_gradient(at, batch.inputs, outputs);
  const ClippedSum clipped = engine.clipped_gradient_sum(at, clip_norm, count, source);
  return {engine.mean_gradient(at, count, source).flat(),
          clipped.sum.flat(),
          torch::tensor(static_cast<double>(clipped.clipped)),
          engine.clipped_gradient_sum(at, kInfinity, count, source).sum.flat(),
          engine.gradient_norms(at, count, source),
          engine.losses(at, count, source),
          engine.input_gradient(at, batch, [&](const Params&) { return direction; }),
          outputs,
          by_outputs.parameters.flat(),
          by_outputs.inputs,
          torch::tensor({score.loss_sum, static_cast<double>(score.correct)}, torch::kFloat64)};
}

void expect_the_cpus_numbers(const Architecture& architecture, std::int64_t count, std::uint64_t seed) {
  const WorkPool pool(3, use_one_torch_thread);
  const Model here(architecture, torch::kFloat64),
      there(architecture, torch::TensorOptions(torch::kFloat64).device(gpu()));
  const Params at = random_params(here, seed), direction = random_params(here, seed + 1);
  const Batch batch = random_batch(here, count, seed + 2), batch_there = batch.to(there.options());
  // Between two norms: which side one that is equal lies on, its last bit decides.
  const double clip_norm = 1.001 * median_norm(separate_gradients(here, at, batch));
  const GradientEngine engine(there, pool);
  const auto run = [&] { return all_of(engine, on_gpu(at), on_gpu(direction), batch_there, clip_norm); };
  const std::vector<torch::Tensor> expected =
                                       all_of(GradientEngine(here, pool), at, direction, batch, clip_norm),
                                   actual = run(), again = run();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const torch::Tensor wanted = on_cpu(expected[i]);
    EXPECT_LE((on_cpu(actual[i]) - wanted).norm().item<double>(),
              1e-9 * (1e-9 + wanted.norm().item<double>()))
        << "number " << i << ", seed " << seed;
    EXPECT_TRUE(again[i].equal(actual[i]))
        << "number " << i << " has other bits the second time, seed " << seed;
  }
}

bool normalises_batches(const Architecture& architecture) {
  return std::ranges::any_of(architecture.layers,
                             [](const Layer& layer) { return std::holds_alternative<BatchNorm>(layer); });
}

TEST(EngineOnTheGpu, ComputesWhatTheCpuDoesForEveryModelOfTheZoo) {
  for (const ModelInfo& info : model_zoo()) {
    SCOPED_TRACE(info.name);
    const Architecture architecture = zoo_architecture(info, {1, 28, 28});
    if (!normalises_batches(architecture)) expect_the_cpus_numbers(architecture, 5, 11);
  }
}

TEST(EngineOnTheGpu, ComputesWhatTheCpuDoesForRandomArchitectures) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    expect_the_cpus_numbers(RandomArchitecture(seed).images_or_features(), 7, 10 * seed);
  }
}

TEST(EngineOnTheGpu, NeverExceedsTheBound) {
  const std::vector<Architecture> victims{
      {.input_shape = {5},
       .outputs = 3,
       .layers = {Linear{5, 8}, Relu{}, Linear{8, 3}},
       .loss = Loss::kSquaredError},
      {.input_shape = {16, 6, 6},
       .outputs = 2,
       .layers = {Conv2d{16, 32, 3, 1}, GroupNorm{4, 32}, Relu{}, AveragePool{2}, Flatten{}, Linear{288, 2}},
       .loss = Loss::kSquaredError}};
  const WorkPool pool(2, use_one_torch_thread);
  for (const Architecture& architecture : victims) {
    const Model model(architecture, torch::TensorOptions(torch::kFloat32).device(gpu()));
    const Params at = random_params(model);
    for (const double magnitude : {0.0, 1e-45, 1e-30, 1.0, 1e15, 1e20, 3e38, kInfinity}) {
      Batch batch = random_batch(model, 1);
      batch.inputs *= magnitude;
      for (const double bound : {1e-30, 1e-9, 1.0, 1e20}) {
        const ClippedSum result =
            GradientEngine(model, pool).clipped_gradient_sum(at, bound, 1, slices_of(batch));
        EXPECT_LE(norm(result.sum), bound) << "inputs " << magnitude;
      }
    }
  }
}

TEST(EngineOnTheGpu, AddsTheCpusNoiseToTheBit) {
  for (const torch::ScalarType type : {torch::kFloat32, torch::kFloat64}) {
    const StreamName name{.seed = 3, .purpose = Purpose::kNoise};
    const auto here = make_random_source(kStreamNoise, Stream(name)),
               there = make_random_source(kStreamNoise, Stream(name));
    for (const std::int64_t count : {0, 1, 2, 1001, 300'000}) {
      const torch::Tensor expected = torch::linspace(-1, 1, count, type), actual = expected.to(gpu());
      here->add_normals(expected, 0.3);
      there->add_normals(actual, 0.3);
      EXPECT_TRUE(actual.to(torch::kCPU).equal(expected)) << count << " of " << type;
    }
  }
}

TEST(EngineOnTheGpu, MatchesGradientsAsTheCpuDoes) {
  const Model model(build_model("convnet", {}, {.shape = {1, 28, 28}, .outputs = 10}), torch::kFloat64);
  const Params matched = random_params(model, 1), target = random_params(model, 2);
  for (const char* criterion : {"cosine", "squared", "cosine+squared"}) {
    SCOPED_TRACE(criterion);
    GradientMatching how;
    how.criterion = criterion;
    const MatchingDistance expected = matching_distance(matched, target, how);
    const auto run = [&] { return matching_distance(on_gpu(matched), on_gpu(target), how); };
    const MatchingDistance actual = run(), again = run();
    EXPECT_NEAR(actual.value, expected.value, 1e-9 * expected.value);
    EXPECT_LE((on_cpu(actual.slope.flat()) - expected.slope.flat()).norm().item<double>(),
              1e-9 * norm(expected.slope));
    EXPECT_TRUE(again.slope.flat().equal(actual.slope.flat()) && again.value == actual.value);
  }
}

// Clients in lanes of their own, of several workers, against one after the other.
TEST(EngineOnTheGpu, HasTheSameBitsSideBySide) {
  constexpr std::size_t kClients = 24;
  const Model model(
      build_model("convnet", {{"width", std::int64_t{16}}}, {.shape = {3, 16, 16}, .outputs = 10}),
      torch::TensorOptions(torch::kFloat32).device(gpu()));
  const Params start = on_gpu(random_params(model));
  std::vector<Batch> batches;
  for (std::size_t client = 0; client < kClients; ++client)
    batches.push_back(
        random_batch(model, 20 + static_cast<std::int64_t>(client), client + 1).to(model.options()));
  const auto train_all = [&](int workers) {
    const WorkPool pool(workers, use_one_torch_thread);
    const GradientEngine engine(model, pool);
    std::vector<torch::Tensor> results(kClients);
    pool.for_each(kClients, [&](std::size_t client) {
      cuda::in_a_lane(gpu(), [&] {
        Params params = start;
        for (int step = 0; step < 10; ++step) {
          const Batch& batch = batches[client];
          params.add_scaled(-0.01,
                            engine.clipped_gradient_sum(params, 0.5, batch.size(), slices_of(batch)).sum);
        }
        results[client] = on_cpu(params.flat());
      });
    });
    return results;
  };
  const std::vector<torch::Tensor> expected = train_all(1);
  for (int turn = 0; turn < 5; ++turn) {
    const std::vector<torch::Tensor> actual = train_all(8);
    for (std::size_t client = 0; client < kClients; ++client)
      EXPECT_TRUE(actual[client].equal(expected[client])) << "client " << client;
  }
}

TEST(SharedGenerators, NoticeDrawsOnTheGpu) {
  const torch::TensorOptions there(gpu());
  torch::ones({2}, there);  // so that it is in use
  const SharedGenerators unused;
  torch::ones({2}, there).add_(1);
  EXPECT_NO_THROW(unused.check());
  torch::rand({2}, there);
  EXPECT_THROW(unused.check(), Error);
  const SharedGenerators anew;
  torch::cuda::manual_seed(2);
  EXPECT_THROW(anew.check(), Error);
}

}  // namespace
}  // namespace fedarena

int main(int argc, char** argv) {
  if (!torch::cuda::is_available()) {
    std::fputs("LibTorch sees no GPU: these tests compare what one computes with what the CPU does.\n",
               stderr);
    return 2;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
