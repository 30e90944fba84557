// The Poisson-sampled Gaussian under add/remove: reference numbers, an independent formula, properties.
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/rdp_events.hpp"
#include "tests/accounting/reference_files.hpp"

namespace fedarena {
namespace {

// By the trapezoidal rule with 55 digits, confirmed by tanh-sinh quadrature.
TEST(SampledGaussianRdp, ReproducesIntegrationInHighPrecision) {
  struct Golden {
    double rate, noise, order, divergence;
  };
  for (const Golden& golden : {
           Golden{1e-06, 0.3, 1.01, 1.2333021891433082e-8},
           Golden{1e-06, 0.3, 1.5, 2.4682152251639213e-8},
           Golden{1e-06, 0.3, 8.0, 2.8655289521056706e+1},
           Golden{0.001, 0.3, 32.0, 1.7064719168334462e+2},
           Golden{0.05, 0.3, 1.01, 1.2796689150172582e-1},
           Golden{0.5, 0.3, 256.0, 1.4215263568174249e+3},
           Golden{1.0, 0.3, 3.0, 1.6666666666666668e+1},
           Golden{0.0001, 0.5, 1.01, 2.5696262538155835e-7},
           Golden{0.0256, 0.5, 2.0, 3.4523239206799421e-2},
           Golden{0.1, 0.5, 1.5, 1.4592708968045614e-1},
           Golden{0.9, 0.5, 32.0, 6.3891240758030631e+1},
           Golden{1e-06, 1.0, 256.0, 1.1413031096925940e+2},
           Golden{0.001, 1.0, 3.0, 2.5843814093686967e-6},
           Golden{0.05, 1.0, 64.0, 2.8956716420516581e+1},
           Golden{0.5, 1.0, 1.5, 2.3515803448253102e-1},
           Golden{1.0, 1.0, 3.0, 1.5000000000000000},
           Golden{0.0001, 2.0, 1.01, 1.4342842106675778e-9},
           Golden{0.0256, 2.0, 3.0, 2.8135151372421187e-4},
           Golden{0.1, 2.0, 64.0, 5.6608672584151994},
           Golden{0.9, 2.0, 8.0, 9.0186658486533144e-1},
           Golden{1e-06, 5.0, 2.0, 4.0810774192387390e-14},
           Golden{0.001, 5.0, 64.0, 1.3093021994366717e-6},
           Golden{0.05, 5.0, 2.0, 1.0202173108717798e-4},
           Golden{0.5, 5.0, 1.5, 7.5750621768063364e-3},
           Golden{1.0, 5.0, 2.0, 4.0000000000000000e-2},
           Golden{0.0001, 20.0, 256.0, 3.2042072109571696e-9},
           Golden{0.0256, 20.0, 2.0, 1.6404483621977168e-6},
           Golden{0.1, 20.0, 2.0, 2.5030962780788115e-5},
           Golden{0.9, 20.0, 1.01, 1.0226400881663131e-3},
           Golden{0.0256, 1.0, 1.1, 5.8791763532001264e-4},
           Golden{0.0256, 1.0, 6.5, 6.4678136311057607e-3},
           Golden{0.0256, 1.0, 6.7, 7.3018976806756836e-3},
           Golden{0.0256, 1.0, 5.5, 4.2617516212794451e-3},
       }) {
    expect_relative(rdp(poisson(golden.rate, golden.noise), golden.order), golden.divergence, 1e-12,
                    fmt::format("rate {} noise {} order {}", golden.rate, golden.noise, golden.order));
  }
}

TEST(SampledGaussianRdp, ReproducesTheGridOfReferenceNumbers) {
  for (const ReferenceRow& row : reference_rows("rdp_grid.csv")) {
    const Event event = poisson(row.number("q"), row.number("sigma"));
    const double order = row.number("alpha"), divergence = rdp(event, order);
    expect_relative(divergence, row.number("rdp"), 1e-12, describe(event));
    expect_relative(divergence * (order - 1), row.number("log_A"), 1e-12, describe(event));
  }
}

TEST(SampledGaussianRdp, ReproducesAllOrdersOfOpacus) {
  const std::vector<double> orders = rdp_orders("opacus");
  for (const ReferenceRow& row : reference_rows("rdp_orders151.csv")) {
    const Event event = poisson(row.number("q"), row.number("sigma"));
    const auto index = static_cast<std::size_t>(row.whole("index"));
    ASSERT_EQ(orders.at(index), row.number("alpha"));
    expect_relative(rdp(event, orders).at(index), row.number("rdp"), 1e-12, describe(event));
  }
}

// Whole orders: A - 1 = sum over k >= 2 of binomial(order, k) q^k (1-q)^(order-k) (exp((k^2-k) / 2 sigma^2) -
// 1).
double by_binomial_sum(double rate, double noise, int order) {
  double sum = 0, weight = std::pow(1 - rate, order);
  for (int k = 0; k <= order; ++k) {
    sum += weight * std::expm1(k * (k - 1.0) / (2 * noise * noise));
    weight *= (order - k) / (k + 1.0) * rate / (1 - rate);
  }
  return std::log1p(sum) / (order - 1);
}

TEST(SampledGaussianRdp, AgreesWithTheBinomialSumAtWholeOrders) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  int compared = 0;
  for (int repeat = 0; repeat < 2'000; ++repeat) {
    const double rate = std::pow(10, -6 * unit(random)), noise = 0.02 * std::pow(10, 4 * unit(random));
    const int order = 2 + static_cast<int>(unit(random) * 40);
    const double sum = by_binomial_sum(rate, noise, order);
    if (!std::isfinite(sum)) continue;
    ++compared;
    expect_relative(rdp(poisson(rate, noise), order), sum, 1e-12,
                    fmt::format("rate {} noise {} order {}", rate, noise, order));
  }
  EXPECT_GT(compared, 1'000);
}

TEST(SampledGaussianRdp, RisesWithOrderAndRateAndFallsWithNoise) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  constexpr double kRounding = 1e-13;
  for (int repeat = 0; repeat < 2'000; ++repeat) {
    const double rate = 0.99 * std::pow(10, -6 * unit(random)),
                 noise = 0.0195 * std::pow(10, 3 * unit(random));
    const double order = 1 + std::pow(10, -4 + 7 * unit(random));
    const double here = rdp(poisson(rate, noise), order) * (1 - kRounding);
    EXPECT_GE(rdp(poisson(rate * 1.001, noise), order), here) << rate << " " << noise << " " << order;
    EXPECT_GE(rdp(poisson(rate, noise / 1.001), order), here) << rate << " " << noise << " " << order;
    EXPECT_GE(rdp(poisson(rate, noise), order * 1.0001), here) << rate << " " << noise << " " << order;
    EXPECT_GE(rdp(Gaussian{noise}, order), here) << rate << " " << noise << " " << order;
  }
}

TEST(SampledGaussianRdp, IsTheSameForOneOrderAndForMany) {
  for (const double noise : {0.01, 0.05, 0.3, 1.0, 7.0, 1000.0}) {
    const std::vector<double> orders = rdp_orders("default");
    const std::vector<double> many = rdp(poisson(0.01, noise), orders);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      expect_relative(rdp(poisson(0.01, noise), orders[i]), many[i], 1e-14);
    }
  }
}

// Between the orders: (order - 1) times the divergence is convex in the order, also where the method of
// evaluation changes.
TEST(SampledGaussianRdp, IsConvexInTheOrder) {
  for (const double noise : {0.0199, 0.0201, 0.06, 0.2, 0.5, 1.0, 3.0, 30.0}) {
    for (const double rate : {1e-7, 1e-3, 0.1, 0.7}) {
      const auto moment = [&](double order) { return (order - 1) * rdp(poisson(rate, noise), order); };
      for (double order = 1.005; order < 400; order *= 1.03) {
        const double next = order * 1.03, middle = (order + next) / 2;
        EXPECT_LE(moment(middle), (moment(order) + moment(next)) / 2 * (1 + 1e-13))
            << rate << " " << noise << " " << order;
      }
    }
  }
}

// Several sums on one sample count as one of the joint noise multiplier.
TEST(SampledGaussianRdp, JoinsTheSumsOfOneSample) {
  const SampledGaussian two{Sampling::kPoisson, 0.02, {3.0, 4.0}, Adjacency::kAddRemove};
  expect_relative(rdp(two, 5.5), rdp(poisson(0.02, 2.4), 5.5), 1e-13);
}

}  // namespace
}  // namespace fedarena
