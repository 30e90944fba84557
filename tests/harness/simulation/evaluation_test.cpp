// What a round's evaluation says of classes, validation examples and clients.
#include "harness/simulation/evaluation.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/simulation/small_runs.hpp"

namespace fedarena {
namespace {

// Its model answers with the larger of the first two inputs.
class Evaluations : public ::testing::Test {
 protected:
  Evaluations() {
    use_one_torch_thread();
    weights_ = model.initial(stream_);
    weights_.flat().copy_(torch::tensor({1.0, 0.0, 0.0, 1.0, 0.0, 0.0}, torch::kFloat64));
    dataset.classes = 2;
  }

  static Examples answered(const std::vector<std::int64_t>& answers, const std::vector<std::int64_t>& truth) {
    const torch::Tensor index = torch::tensor(answers, torch::kInt64);
    return {torch::one_hot(index, 2).to(torch::kFloat64), torch::tensor(truth, torch::kInt64)};
  }

  results::RoundRecord evaluate(const Model& of, const Params& at, const Partition* client_tests,
                                const std::function<InputSkew(std::int64_t)>& test_skew = {}) const {
    const GradientEngine engine(of, pool);
    const ExampleReader reader(dataset, of.options());
    const Evaluator evaluator({.dataset = dataset,
                               .reader = reader,
                               .engine = engine,
                               .stop = stop,
                               .client_tests = client_tests,
                               .test_skew = test_skew});
    results::RoundRecord record;
    const std::vector<Evaluator::Piece> pieces = evaluator.pieces();
    std::vector<Score> scores;
    for (const Evaluator::Piece& piece : pieces) scores.push_back(evaluator.score(at, piece));
    evaluator.write(pieces, scores, false, record);
    return record;
  }
  results::RoundRecord evaluate(const Partition* client_tests) const {
    return evaluate(model, weights_, client_tests);
  }

  Dataset dataset;
  Model model{{.input_shape = {2}, .outputs = 2, .layers = {Linear{2, 2}}}, torch::kFloat64};
  WorkPool pool{2, use_one_torch_thread};
  std::atomic<bool> stop = false;

 private:
  Stream stream_{{.seed = 1}};
  Params weights_;
};

TEST_F(Evaluations, TellClassesApart) {
  dataset.test = answered({0, 0, 0, 1, 1}, {0, 0, 1, 1, 0});
  const results::RoundRecord record = evaluate(nullptr);
  EXPECT_DOUBLE_EQ(*record.test_accuracy, 0.6);
  ASSERT_TRUE(record.classes);
  EXPECT_DOUBLE_EQ(*record.classes->accuracy[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(*record.classes->accuracy[1], 0.5);
  EXPECT_DOUBLE_EQ(record.classes->macro_f1, (2.0 / 3 + 0.5) / 2);
  EXPECT_FALSE(record.validation_accuracy);
  EXPECT_FALSE(record.per_client);
}

TEST_F(Evaluations, LookAtValidationExamplesBesideTheTest) {
  dataset.test = answered({0, 1}, {0, 1});
  dataset.validation = answered({0, 0, 0, 1}, {1, 1, 0, 0});
  const results::RoundRecord record = evaluate(nullptr);
  EXPECT_EQ(*record.test_accuracy, 1);
  EXPECT_DOUBLE_EQ(*record.validation_accuracy, 0.25);
  EXPECT_GT(*record.validation_loss, *record.test_loss);
}

TEST_F(Evaluations, TestEachClientOnItsOwnExamplesAndLeaveOutThoseWithoutAny) {
  dataset.test = answered({0, 0, 0, 1, 1}, {0, 0, 1, 1, 0});
  const Partition client_tests = {{0, 1}, {}, {2, 3, 4}};
  const results::RoundRecord record = evaluate(&client_tests);
  ASSERT_TRUE(record.per_client);
  EXPECT_EQ(record.per_client->tested, 2);
  EXPECT_DOUBLE_EQ(record.per_client->accuracy_mean, (1 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(record.per_client->accuracy_worst, 1.0 / 3);
  EXPECT_DOUBLE_EQ(record.per_client->accuracy_std, 1.0 / 3);
  ASSERT_EQ(record.client_scores.size(), 2U);
  EXPECT_EQ(record.client_scores[0], (results::ClientScore{0, 2, 1, 1}));
  EXPECT_EQ(record.client_scores[1], (results::ClientScore{2, 3, 1.0 / 3, 0.25}));
  // The second one: class 0 has one example, one answer, none right; class 1 two, two and one.
  EXPECT_DOUBLE_EQ(record.per_client->macro_f1_mean, (1 + (0 + 0.5) / 2) / 2);
}

TEST_F(Evaluations, OfRegressionDataHaveEachClientsError) {
  const Model line({.input_shape = {1}, .outputs = 1, .layers = {Linear{1, 1}}, .loss = Loss::kSquaredError},
                   torch::kFloat64);
  Stream stream({.seed = 1});
  Params weights = line.initial(stream);
  weights.flat().copy_(torch::tensor({2.0, 0.0}, torch::kFloat64));  // the answer is twice the input
  dataset.classes = 0;
  dataset.test = {torch::tensor({1.0, 2.0, 3.0, 4.0}, torch::kFloat64).view({4, 1}),
                  torch::tensor({1.0, 4.0, 9.0, 4.0}, torch::kFloat64).view({4, 1})};  // off by 1, 0, 3, 4
  const Partition client_tests = {{0, 1}, {}, {2, 3}};
  const results::RoundRecord record = evaluate(line, weights, &client_tests);
  EXPECT_FALSE(record.per_client);
  ASSERT_TRUE(record.client_errors);
  const double first = std::sqrt(0.5), third = std::sqrt(12.5);
  EXPECT_EQ(record.client_errors->tested, 2);
  EXPECT_DOUBLE_EQ(record.client_errors->rmse_mean, (first + third) / 2);
  EXPECT_DOUBLE_EQ(record.client_errors->rmse_worst, third);
  EXPECT_DOUBLE_EQ(record.client_errors->rmse_std, (third - first) / 2);
  ASSERT_EQ(record.client_scores.size(), 2U);
  EXPECT_EQ(record.client_scores[1].client, 2);
  EXPECT_EQ(record.client_scores[1].test_examples, 2);
  EXPECT_DOUBLE_EQ(record.client_scores[1].rmse.value(), third);
}

TEST_F(Evaluations, ShowClientsTheirOwnFeatures) {
  // Turned by 90 degrees counter-clockwise, the dark pixel moves from the top left to the bottom left.
  dataset.test = {torch::tensor({255, 0, 0, 0}, torch::kUInt8).view({1, 1, 2, 2}),
                  torch::tensor({0}, torch::kInt64)};
  dataset.mean = {0};
  dataset.deviation = {1};
  const Model square({.input_shape = {1, 2, 2}, .outputs = 2, .layers = {Flatten{}, Linear{4, 2}}},
                     torch::kFloat64);
  Stream stream({.seed = 1});
  Params weights = square.initial(stream);
  weights.flat().zero_();
  weights.flat()[0] = 1;      // the top left speaks for class 0
  weights.flat()[4 + 2] = 2;  // the bottom left for class 1
  const Partition client_tests = {{0}};
  const auto accuracy_at = [&](std::int64_t degrees) {
    const results::RoundRecord record =
        evaluate(square, weights, &client_tests, [=](std::int64_t) { return InputSkew{.degrees = degrees}; });
    EXPECT_EQ(*record.test_accuracy, 1);  // which is not turned
    return record.per_client->accuracy_mean;
  };
  EXPECT_EQ(accuracy_at(0), 1);
  EXPECT_EQ(accuracy_at(90), 0);
}

}  // namespace
}  // namespace fedarena
