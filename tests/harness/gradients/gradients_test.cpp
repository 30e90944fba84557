#include "harness/gradients/engine/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/harness/gradients/one_at_a_time.hpp"

namespace fedarena {
namespace {

// 21,764 numbers an example in the first, so that 128 make a micro-batch; few in the second, which has the
// largest.
Architecture images() {
  return {
      .input_shape = {1, 16, 16},
      .outputs = 4,
      .layers = {Conv2d{1, 24, 3, 1}, GroupNorm{24, 24}, Relu{}, AveragePool{2}, Flatten{}, Linear{1536, 4}}};
}
Architecture features() {
  return {.input_shape = {6}, .outputs = 3, .layers = {Linear{6, 8}, Relu{}, Linear{8, 3}}};
}

using Engines = WithPools;

// The pieces of a batch that an engine asks for, each once.
class Pieces {
 public:
  BatchSource of(const Batch& batch) {
    return [this, source = slices_of(batch)](std::int64_t begin, std::int64_t end) {
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(asked_.emplace(begin, end).second);
      return source(begin, end);
    };
  }
  const std::set<std::pair<std::int64_t, std::int64_t>>& asked() const { return asked_; }

 private:
  std::mutex mutex_;
  std::set<std::pair<std::int64_t, std::int64_t>> asked_;
};

TEST_F(Engines, AverageMicroBatchesToTheGradientOfTheWholeBatch) {
  for (const auto& architecture : {images(), features()}) {
    for (const auto& [type, tolerance] : std::vector<std::pair<torch::ScalarType, double>>{
             {torch::kFloat32, 1e-5}, {torch::kFloat64, 1e-12}}) {
      const Trial trial(architecture, type, one);
      for (const std::int64_t count : sizes_around(trial.engine.micro_batch())) {
        const Batch batch = trial.draw(count);
        const Params whole = trial.model.gradient(trial.at, batch);
        EXPECT_LE(norm(trial.mean(batch) - whole), tolerance * norm(whole)) << count;
      }
    }
  }
}

TEST_F(Engines, GiveTheSameBitsForAnyNumberOfWorkers) {
  for (const auto& architecture : {images(), features()}) {
    const Trial alone(architecture, torch::kFloat32, one);
    const Batch batch = alone.draw(5 * alone.engine.micro_batch() + 3);
    const Params expected = alone.mean(batch);
    const Score score = alone.score(batch);
    for (const WorkPool* pool : {&two, &seven}) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Trial trial(architecture, torch::kFloat32, *pool);
        EXPECT_TRUE(torch::equal(trial.mean(batch).flat(), expected.flat()));
        EXPECT_EQ(trial.score(batch).loss_sum, score.loss_sum);
      }
    }
  }
}

TEST_F(Engines, AskForEveryExampleOnceInPiecesThatDependOnTheModelAlone) {
  const Model model(features(), torch::kFloat64);
  const std::int64_t count =
      70 * GradientEngine(model, one).micro_batch() + 5;  // more than are folded at once
  const Batch batch = random_batch(model, count);
  Pieces all[2];
  for (const int turn : {0, 1}) {
    const GradientEngine engine(model, turn == 0 ? one : seven);
    engine.evaluate(random_params(model), count, all[turn].of(batch));
  }
  EXPECT_EQ(all[0].asked(), all[1].asked());
  std::int64_t next = 0;
  for (const auto& [begin, end] : all[0].asked()) {
    EXPECT_EQ(begin, next);
    EXPECT_LE(end - begin, GradientEngine(model, one).micro_batch());
    next = end;
  }
  EXPECT_EQ(next, count);
}

// Two workers are done with them at the same time.
TEST_F(Engines, CutABatchIntoAnEvenNumberOfMicroBatches) {
  const Trial trial(features(), torch::kFloat64, two);
  const std::int64_t largest = trial.engine.micro_batch();
  for (const std::int64_t count : sizes_around(largest)) {
    const Batch batch = trial.draw(count);
    Pieces pieces;
    trial.engine.mean_gradient(trial.at, count, pieces.of(batch));
    std::vector<std::int64_t> sizes;
    for (const auto& [begin, end] : pieces.asked()) sizes.push_back(end - begin);
    if (count <= largest) {
      EXPECT_EQ(sizes, std::vector{count});
      continue;
    }
    EXPECT_EQ(sizes.size() % 2, 0) << count;
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), count);
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_LE(*most, largest);
    EXPECT_LE(*most - *least, 3) << count;
  }
}

// A GPU without memory for a micro-batch: it is halved until there is enough, whatever is asked for.
TEST_F(Engines, HalveMicroBatchesThatDoNotFit) {
  const Trial trial(
      {.input_shape = {2, 6, 6},
       .outputs = 3,
       .layers = {Conv2d{2, 4, 3, 1}, GroupNorm{2, 4}, Relu{}, AveragePool{2}, Flatten{}, Linear{36, 3}}},
      torch::kFloat64, two);
  const Batch batch = trial.draw(23);
  const torch::Tensor slopes = trial.engine.outputs(trial.at, batch.inputs);
  const auto all = [&] {
    return std::vector{trial.mean(batch).flat(),
                       trial.clipped(0.1, batch).sum.flat(),
                       trial.norms(batch),
                       trial.moved(batch, random_params(trial.model, 2)),
                       trial.engine.outputs(trial.at, batch.inputs),
                       trial.engine.output_gradient(trial.at, batch.inputs, slopes).inputs};
  };
  const std::vector<torch::Tensor> expected = all();
  for (const std::int64_t examples : {1, 3, 11, 12}) {
    const cuda::Walked walked(cuda::Order::kForward, examples * 4 * 36);  // what the normalisation is given
    const std::vector<torch::Tensor> actual = all();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(relative_error(actual[i], expected[i]), 1e-12) << i << " of " << examples << " examples";
    }
  }
  const cuda::Walked walked(cuda::Order::kForward, 4 * 36 - 1);  // not even for one example
  EXPECT_THROW((void)trial.mean(batch), c10::OutOfMemoryError);
}

TEST_F(Engines, EvaluateAsIsDoneByHand) {
  const Trial trial(features(), torch::kFloat64, two);
  for (const std::int64_t count : sizes_around(trial.engine.micro_batch())) {
    const Batch batch = trial.draw(count);
    const torch::Tensor outputs = trial.model.forward(trial.at, batch.inputs);
    double loss = 0;
    std::int64_t correct = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto label = batch.targets[i].item<std::int64_t>();
      double sum = 0, largest = -1e300;
      std::int64_t best = -1;
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto output = outputs[i][c].item<double>();
        sum += std::exp(output);
        if (output > largest) std::tie(largest, best) = std::pair(output, c);
      }
      loss += std::log(sum) - outputs[i][label].item<double>();
      correct += best == label;
    }
    const Score score = trial.score(batch);
    EXPECT_NEAR(score.loss_sum, loss, 1e-12 * loss);
    EXPECT_EQ(score.correct, correct);
    EXPECT_EQ(score.examples, count);
  }
}

TEST_F(Engines, CountNothingCorrectInARegression) {
  const Trial trial({.input_shape = {3}, .outputs = 2, .layers = {Linear{3, 2}}, .loss = Loss::kSquaredError},
                    torch::kFloat64, one);
  const Batch batch = trial.draw(9);
  const Score score = trial.score(batch);
  EXPECT_EQ(score.correct, 0);
  const torch::Tensor outputs = trial.model.forward(trial.at, batch.inputs);
  EXPECT_NEAR(score.loss_sum, 0.5 * (outputs - batch.targets).square().sum().item<double>(), 1e-12);
}

TEST_F(Engines, EvaluateNothing) {
  const Trial trial(features(), torch::kFloat64, one);
  const Score score = trial.engine.evaluate(trial.at, 0, [](std::int64_t, std::int64_t) {
    ADD_FAILURE();
    return Batch{};
  });
  EXPECT_EQ(score.examples, 0);
  EXPECT_EQ(score.loss_sum, 0);
}

TEST_F(Engines, RefuseAGradientOfNothing) {
  const Trial trial(features(), torch::kFloat64, one);
  EXPECT_THROW(trial.mean(trial.draw(0)), Bug);
}

TEST_F(Engines, PassOnWhatTheSourceThrows) {
  const Trial trial(features(), torch::kFloat64, seven);
  const std::int64_t count = 4 * trial.engine.micro_batch();
  const Batch batch = trial.draw(count);
  const auto failing = [&](std::int64_t begin, std::int64_t end) -> Batch {
    if (begin > 0) throw Interrupted();
    return slices_of(batch)(begin, end);
  };
  EXPECT_THROW(trial.engine.mean_gradient(trial.at, count, failing), Interrupted);
  EXPECT_THROW(trial.engine.evaluate(trial.at, count, failing), Interrupted);
}

TEST_F(Engines, TakeSmallerMicroBatchesForLargerModels) {
  const Model small(features(), torch::kFloat32), large(images(), torch::kFloat32);
  EXPECT_EQ(GradientEngine(small, one).micro_batch(), 256);
  EXPECT_EQ(GradientEngine(large, one).micro_batch(), 128);
  const Architecture huge{.input_shape = {1, 200, 200},
                          .outputs = 1,
                          .layers = {Conv2d{1, 64, 3, 1}, AveragePool{200}, Flatten{}, Linear{64, 1}}};
  EXPECT_EQ(GradientEngine(Model(huge, torch::kFloat32), one).micro_batch(), 1);
}

}  // namespace
}  // namespace fedarena
