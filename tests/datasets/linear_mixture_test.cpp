#include <string>
#include <vector>

#include "datasets/published/published_files.hpp"
#include "datasets/registry.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

Dataset mixture(const Settings& settings = {}) { return load_dataset("linear-mixture", settings, {}); }

// The least-squares solution of the users of one population, of whom every second user is one; with a column
// of ones where there is an intercept.
torch::Tensor fitted(const Dataset& set, std::int64_t population, bool intercept) {
  const auto users = torch::tensor(set.train.users, torch::kInt64);
  const auto rows = (users.remainder(2) == population).nonzero().flatten();
  auto x = set.train.inputs.index_select(0, rows).to(torch::kFloat64);
  if (intercept) x = torch::cat({x, torch::ones({x.size(0), 1}, torch::kFloat64)}, 1);
  const auto y = set.train.targets.index_select(0, rows).to(torch::kFloat64);
  return std::get<0>(torch::linalg_lstsq(x, y, c10::nullopt, c10::nullopt)).flatten();
}

TEST(LinearMixture, HasUsersOfBothPopulationsInTurnWithTheirSamples) {
  const Dataset set = mixture({{"users", std::int64_t{5}}, {"test_samples", std::int64_t{3}}});
  EXPECT_THAT(set.users, ElementsAre("first-0", "second-0", "first-1", "second-1", "first-2"));
  for (const auto& [part, each] : {std::pair{&set.train, 10}, std::pair{&set.test, 3}}) {
    EXPECT_EQ(part->inputs.sizes(), (std::vector<std::int64_t>{5 * each, 2}));
    EXPECT_EQ(part->targets.sizes(), (std::vector<std::int64_t>{5 * each, 1}));
    const auto counts = torch::bincount(torch::tensor(part->users, torch::kInt64), {}, 5);
    EXPECT_TRUE(torch::all(counts == each).item<bool>()) << counts;
  }
  EXPECT_EQ(set.classes, 0);
  EXPECT_THAT(set.note, HasSubstr("synthetic"));
  EXPECT_EQ(mixture().users.size(), 100U);
}

// u has mean 1/2 and variance 1/12. The deviation of each coefficient over 50,000 rows is below 0.005 (inputs
// of unit variance: 0.0013; uniform on (0, 1): 0.0045, the intercept 0.0034): ten of them.
TEST(LinearMixture, IsRegressedToItsOptimaAndTheMeanOfItsNoise) {
  const double optima[2][2] = {{5, 6}, {4, -4.5}};
  for (const std::string inputs : {"uniform", "normal", "unit"}) {
    const Dataset set = mixture({{"samples", std::int64_t{1000}}, {"inputs", inputs}});
    for (const std::int64_t population : {0, 1}) {
      const auto theta = fitted(set, population, true);
      EXPECT_NEAR(theta[0].item<double>(), optima[population][0], 0.05) << inputs;
      EXPECT_NEAR(theta[1].item<double>(), optima[population][1], 0.05) << inputs;
      EXPECT_NEAR(theta[2].item<double>(), 0.5, 0.05) << inputs;
    }
  }
}

// Where inputs are centred, the intercept that a model lacks moves nothing, and its error is the root of
// E u^2 = 1/3. On (0, 1) each coefficient takes up E x E u / (Var x + 2 (E x)^2) = 3/7 of it.
TEST(LinearMixture, HasTheOptimaOfAModelWithoutInterceptInClosedForm) {
  const auto centred = fitted(mixture({{"samples", std::int64_t{1000}}}), 1, false);
  EXPECT_NEAR(centred[0].item<double>(), 4, 0.05);
  EXPECT_NEAR(centred[1].item<double>(), -4.5, 0.05);
  const auto moved = fitted(mixture({{"samples", std::int64_t{1000}}, {"inputs", "unit"}}), 1, false);
  EXPECT_NEAR(moved[0].item<double>(), 4 + 3. / 7, 0.05);
  EXPECT_NEAR(moved[1].item<double>(), -4.5 + 3. / 7, 0.05);
}

TEST(LinearMixture, DrawsInputsAsAsked) {
  const auto moments = [](const std::string& inputs) {
    const auto x = mixture({{"samples", std::int64_t{1000}}, {"inputs", inputs}}).train.inputs;
    return std::vector<double>{x.min().item<double>(), x.max().item<double>(), x.mean().item<double>(),
                               x.var(false).item<double>()};
  };
  using testing::DoubleNear;
  // 200,000 numbers: deviations of mean and variance below 0.0033.
  EXPECT_THAT(moments("uniform"), ElementsAre(DoubleNear(-1, 1e-3), DoubleNear(1, 1e-3), DoubleNear(0, 0.02),
                                              DoubleNear(1. / 3, 0.02)));
  EXPECT_THAT(moments("unit"), ElementsAre(DoubleNear(0, 1e-3), DoubleNear(1, 1e-3), DoubleNear(0.5, 0.02),
                                           DoubleNear(1. / 12, 0.02)));
  EXPECT_THAT(moments("normal"),
              ElementsAre(testing::Lt(-3.5), testing::Gt(3.5), DoubleNear(0, 0.02), DoubleNear(1, 0.02)));
}

// Recorded results rest on these numbers. A user's examples do not depend on how many users there are.
TEST(LinearMixture, IsTheSameEveryTime) {
  const Dataset set = mixture();
  const auto bytes_of = [](const torch::Tensor& numbers) {
    return sha256_of({static_cast<const std::uint8_t*>(numbers.data_ptr()), numbers.nbytes()});
  };
  EXPECT_EQ(bytes_of(set.train.inputs), "533f6d06151aff8822b56ae8fba904c300eb35e6f94a26fcbaae23afb135d155");
  EXPECT_EQ(bytes_of(set.train.targets), "a0631e130fbe0714c3bbe7431613e688d208f3f8085b6907602a87ca29551dc9");
  EXPECT_EQ(bytes_of(set.test.targets), "8bf285cfb3248b9b8a99cdc482dba201aafbd827fb01b0b881d9bebd3ee04e9a");
  const Dataset more = mixture({{"users", std::int64_t{200}}});
  EXPECT_TRUE(torch::equal(more.train.targets.slice(0, 0, 1000), set.train.targets));
}

}  // namespace
}  // namespace fedarena
