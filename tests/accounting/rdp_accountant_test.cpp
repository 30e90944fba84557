// Composition: epsilons of reference, what accountants have published, and what copies may rely on.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/rdp_events.hpp"
#include "tests/accounting/reference_files.hpp"
#include "tests/infinity.hpp"

namespace fedarena {
namespace {

using ::testing::HasSubstr;

RdpEpsilon epsilon_of(double rate, double noise, std::int64_t steps, double delta,
                      Conversion conversion = Conversion::kBalle, const std::string& orders = "opacus") {
  RdpAccountant accountant(rdp_orders(orders));
  accountant.add(poisson(rate, noise), steps);
  return accountant.epsilon(delta, conversion);
}

// FedLAP-DP (PoPETs 2024), private run: 200 accesses a round, rate 256/10000, noise 1, delta 1e-5.
TEST(RdpAccountant, ReproducesTheEpsilonsOfFedLapDp) {
  for (const auto& [rounds, epsilon] : {std::pair{1, 2.7866},
                                        {2, 3.6737},
                                        {5, 5.6577},
                                        {10, 8.1345},
                                        {15, 10.1830},
                                        {17, 10.9310},
                                        {30, 15.2325}}) {
    EXPECT_NEAR(epsilon_of(0.0256, 1, 200 * rounds, 1e-5).epsilon, epsilon, 0.00005) << rounds;
  }
  EXPECT_EQ(epsilon_of(0.0256, 1, 200, 1e-5).order, 6);
}

// The README of Opacus for MNIST: batch 240 of 60000; the newer conversion, then the classic one.
TEST(RdpAccountant, ReproducesTheMnistSettingsOfOpacus) {
  const double rate = 240.0 / 60000;
  struct Published {
    double noise;
    int epochs;
    double balle, classic;
  };
  for (const Published& published :
       {Published{0.7, 45, 6.09, 6.859}, Published{1.1, 60, 2.50, 2.905}, Published{1.3, 15, 0.92, 1.160}}) {
    const int steps = published.epochs * 250;
    EXPECT_NEAR(epsilon_of(rate, published.noise, steps, 1e-5).epsilon, published.balle, 0.005);
    EXPECT_NEAR(epsilon_of(rate, published.noise, steps, 1e-5, Conversion::kClassic).epsilon,
                published.classic, 0.0005);
  }
}

// A few of the rows below, for checkouts without them.
TEST(RdpAccountant, ReproducesEpsilonsOfReference) {
  EXPECT_NEAR(epsilon_of(0.0256, 1, 200, 1e-5).epsilon, 2.7866439426422339, 1e-12);
  EXPECT_NEAR(epsilon_of(0.0256, 1, 600, 1e-5).epsilon, 4.4128687966352366, 1e-12);
  EXPECT_NEAR(epsilon_of(0.001552, 0.461, 46353, 1e-9).epsilon, 31.516670754701543, 1e-11);
  EXPECT_NEAR(epsilon_of(0.9, 1, 1000, 1e-6).epsilon, 562.95930431141316, 1e-10);
  EXPECT_EQ(epsilon_of(0.3, 12, 20, 0.1).epsilon, 0);  // the formula is negative
}

TEST(RdpAccountant, ReproducesTheTableOfEpsilons) {
  for (const ReferenceRow& row : reference_rows("eps_rdp.csv")) {
    const auto at = [&](const std::string& orders) {
      return epsilon_of(row.number("q"), row.number("sigma"), row.whole("steps"), row.number("delta"),
                        Conversion::kBalle, orders);
    };
    const RdpEpsilon result = at("opacus");
    EXPECT_NEAR(result.epsilon, row.number("eps"), 1e-12 * (1 + row.number("eps"))) << row.text("case");
    if (row.number("eps_second_best") - row.number("eps_unclamped") > 1e-9) {
      EXPECT_EQ(result.order, row.number("order")) << row.text("case");
    }
    EXPECT_LE(at("default").epsilon, result.epsilon) << row.text("case");
  }
}

TEST(RdpAccountant, ReproducesHeterogeneousCompositions) {
  for (const ReferenceRow& row : reference_rows("hetero.csv")) {
    RdpAccountant accountant(rdp_orders("opacus"));
    for (const auto& block : nlohmann::json::parse(row.text("blocks"))) {
      accountant.add(poisson(block[0], block[1]), block[2]);
    }
    const RdpEpsilon result = accountant.epsilon(row.number("delta"));
    expect_relative(result.epsilon, row.number("eps_rdp"), 1e-13, row.text("case"));
    EXPECT_EQ(result.order, row.number("order"));
  }
}

TEST(RdpAccountant, IsNeverWorseWithMoreOrders) {
  for (const double noise : {0.3, 0.8, 2.0, 20.0}) {
    for (const std::int64_t steps : {1, 100, 1'000'000'000}) {
      for (const double delta : {1e-12, 1e-5, 0.1}) {
        const double few = epsilon_of(0.01, noise, steps, delta).epsilon;
        EXPECT_LE(epsilon_of(0.01, noise, steps, delta, Conversion::kBalle, "default").epsilon, few);
        EXPECT_LE(few, epsilon_of(0.01, noise, steps, delta, Conversion::kClassic).epsilon);
        EXPECT_TRUE(std::isfinite(few));
      }
    }
  }
}

TEST(RdpAccountant, AddsCurves) {
  RdpAccountant accountant(rdp_orders("opacus"));
  accountant.add(poisson(0.01, 1), 3);
  accountant.add(Gaussian{4});
  accountant.add(poisson(0.01, 1), 2);
  const std::vector<double> sampled = rdp(poisson(0.01, 1), accountant.orders()),
                            whole = rdp(Gaussian{4}, accountant.orders());
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    expect_relative(accountant.rdp()[i], 5 * sampled[i] + whole[i], 1e-15);
  }
}

TEST(RdpAccountant, CountsSequencesAsOneByOne) {
  RdpAccountant at_once(rdp_orders("opacus")), one_by_one(rdp_orders("opacus")),
      composed(rdp_orders("opacus"));
  at_once.add(poisson(0.02, 1.1), 1000);
  for (int i = 0; i < 1000; ++i) one_by_one.add(poisson(0.02, 1.1));
  composed.add(Composition{{{poisson(0.02, 1.1), 250}}}, 4);
  expect_relative(one_by_one.epsilon(1e-5).epsilon, at_once.epsilon(1e-5).epsilon, 1e-12);
  expect_relative(composed.epsilon(1e-5).epsilon, at_once.epsilon(1e-5).epsilon, 1e-13);
}

TEST(RdpAccountant, AnswersWhatIfOnACopy) {
  RdpAccountant accountant(rdp_orders("opacus"));
  accountant.add(poisson(0.02, 1.1), 100);
  const double before = accountant.epsilon(1e-5).epsilon;
  RdpAccountant copy = accountant;
  copy.add(poisson(0.5, 0.9), 7);
  EXPECT_GT(copy.epsilon(1e-5).epsilon, before);
  EXPECT_EQ(accountant.epsilon(1e-5).epsilon, before);
}

TEST(RdpAccountant, IsAsBeforeAfterARefusal) {
  RdpAccountant accountant(rdp_orders("opacus"));
  accountant.add(poisson(0.02, 1.1), 100);
  const double before = accountant.epsilon(1e-5).epsilon;
  const Event half = Composition{{{Gaussian{1}, 1}, {fixed_size(0.1, 1, Adjacency::kAddRemove), 1}}};
  EXPECT_THROW(accountant.add(half), Unproven);
  EXPECT_THROW(accountant.add(Gaussian{-1}), Error);
  EXPECT_THAT(message_of([&] { accountant.add(Gaussian{1}, -3); }), HasSubstr("counted -3 times"));
  EXPECT_EQ(accountant.epsilon(1e-5).epsilon, before);
}

TEST(RdpAccountant, StartsAtNothing) {
  RdpAccountant accountant(rdp_orders("opacus"));
  EXPECT_EQ(accountant.epsilon(0).epsilon, 0);
  accountant.add(ExactAccess{"loss"}, 0);
  accountant.add(poisson(0, 0), 1'000'000'000);
  EXPECT_EQ(accountant.epsilon(0).epsilon, 0);
  accountant.add(ExactAccess{"loss"});
  EXPECT_EQ(accountant.epsilon(1e-5).epsilon, kInfinity);
}

TEST(RdpAccountant, SpendsPureEpsilonsAtDeltaZero) {
  RdpAccountant accountant(rdp_orders("default"));
  accountant.add(RandomizedResponse{4, 0.5}, 3);
  accountant.add(Laplace{11, 1});
  EXPECT_DOUBLE_EQ(accountant.epsilon(0).epsilon, 2.5);
  EXPECT_EQ(accountant.epsilon(0).order, kInfinity);
  EXPECT_LE(accountant.epsilon(1e-5).epsilon, 2.5);
  accountant.add(RandomizedResponse{4, 0.01}, 10'000);
  EXPECT_LT(accountant.epsilon(1e-5).epsilon, 10);  // far below 102.5
  accountant.add(Gaussian{100});
  EXPECT_EQ(accountant.epsilon(0).epsilon, kInfinity);
}

TEST(RdpAccountant, TakesNoSampleForAPoissonSample) {
  RdpAccountant proving(rdp_orders("opacus"));
  EXPECT_THROW(proving.add(fixed_size(0.0256, 1, Adjacency::kAddRemove)), Unproven);
  proving.add(fixed_size(0.0256, 1, Adjacency::kReplaceOne), 200);
  EXPECT_GT(proving.epsilon(1e-5).epsilon, 2.79);
}

TEST(RdpAccountant, RefusesOrdersAndDeltasThatAreNone) {
  EXPECT_THROW(RdpAccountant({}), Error);
  EXPECT_THROW(RdpAccountant({2.0, 1.0}), Error);
  EXPECT_THROW(RdpAccountant({std::nan("")}), Error);
  RdpAccountant accountant({2.0});
  for (const double delta : {1.0, 2.0, -1e-5, std::nan("")}) {
    EXPECT_THAT(message_of([&] { accountant.epsilon(delta); }), HasSubstr("allowed: 0 <= delta < 1"));
  }
}

}  // namespace
}  // namespace fedarena
