// The Poisson-sampled Gaussian under add/remove, and the way from RDP to (epsilon, delta): reference numbers,
// independent formulas, properties.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fedarena/accounting/conversion.hpp"
#include "fedarena/accounting/rdp.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"
#include "tests/paths.hpp"

namespace fedarena {
namespace {

using List = std::vector<double>;

// By the trapezoidal rule with 55 digits, confirmed by tanh-sinh quadrature.
TEST(SampledGaussianRdp, ReproducesIntegrationInHighPrecision) {
  struct Golden {
    double rate, noise, order, divergence;
  };
  static constexpr Golden kTable[] = {
      {1e-6, 0.3, 1.01, 1.2333021891433082e-8},   {1e-6, 0.3, 1.5, 2.4682152251639213e-8},
      {1e-6, 0.3, 8.0, 2.8655289521056706e+1},    {0.001, 0.3, 32.0, 1.7064719168334462e+2},
      {0.05, 0.3, 1.01, 1.2796689150172582e-1},   {0.5, 0.3, 256.0, 1.4215263568174249e+3},
      {1.0, 0.3, 3.0, 1.6666666666666668e+1},     {0.0001, 0.5, 1.01, 2.5696262538155835e-7},
      {0.0256, 0.5, 2.0, 3.4523239206799421e-2},  {0.1, 0.5, 1.5, 1.4592708968045614e-1},
      {0.9, 0.5, 32.0, 6.3891240758030631e+1},    {1e-6, 1.0, 256.0, 1.1413031096925940e+2},
      {0.001, 1.0, 3.0, 2.5843814093686967e-6},   {0.05, 1.0, 64.0, 2.8956716420516581e+1},
      {0.5, 1.0, 1.5, 2.3515803448253102e-1},     {1.0, 1.0, 3.0, 1.5000000000000000},
      {0.0001, 2.0, 1.01, 1.4342842106675778e-9}, {0.0256, 2.0, 3.0, 2.8135151372421187e-4},
      {0.1, 2.0, 64.0, 5.6608672584151994},       {0.9, 2.0, 8.0, 9.0186658486533144e-1},
      {1e-6, 5.0, 2.0, 4.0810774192387390e-14},   {0.001, 5.0, 64.0, 1.3093021994366717e-6},
      {0.05, 5.0, 2.0, 1.0202173108717798e-4},    {0.5, 5.0, 1.5, 7.5750621768063364e-3},
      {1.0, 5.0, 2.0, 4.0000000000000000e-2},     {0.0001, 20.0, 256.0, 3.2042072109571696e-9},
      {0.0256, 20.0, 2.0, 1.6404483621977168e-6}, {0.1, 20.0, 2.0, 2.5030962780788115e-5},
      {0.9, 20.0, 1.01, 1.0226400881663131e-3},   {0.0256, 1.0, 1.1, 5.8791763532001264e-4},
      {0.0256, 1.0, 6.5, 6.4678136311057607e-3},  {0.0256, 1.0, 6.7, 7.3018976806756836e-3},
      {0.0256, 1.0, 5.5, 4.2617516212794451e-3}};
  for (const Golden& golden : kTable) {
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
  for (int repeat = 0, repeats = test::long_tests() ? 2'000 : 500; repeat < repeats; ++repeat) {
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

TEST(Conversion, IsThePublishedFormula) {
  const List order{5}, divergence{0.75};
  const double classic = 0.75 + std::log(1e5) / 4;
  EXPECT_DOUBLE_EQ(epsilon_of_rdp(order, divergence, 1e-5, Conversion::kClassic).epsilon, classic);
  EXPECT_DOUBLE_EQ(epsilon_of_rdp(order, divergence, 1e-5, Conversion::kBalle).epsilon,
                   classic + std::log(0.8) - std::log(5) / 4);
}

// dp_accounting: a divergence of 1.1 at every order 2..32, delta 1e-5.
TEST(Conversion, ReproducesAPublishedTest) {
  List orders, divergences;
  for (int order = 2; order <= 32; ++order) {
    orders.push_back(order);
    divergences.push_back(1.1);
  }
  const RdpEpsilon result = epsilon_of_rdp(orders, divergences, 1e-5, Conversion::kBalle);
  EXPECT_NEAR(result.epsilon, 1.3278380617554359, 1e-15);
  EXPECT_EQ(result.order, 32);
}

TEST(Conversion, TakesTheBestOrderAndSkipsInfinities) {
  const RdpEpsilon result = epsilon_of_rdp(List{2, 10, 40}, List{0.1, 0.5, kInfinity}, 1e-5);
  EXPECT_EQ(result.order, 10);
  EXPECT_EQ(epsilon_of_rdp(List{2, 10}, List{kInfinity, kInfinity}, 1e-5).epsilon, kInfinity);
}

TEST(Conversion, IsNeverNegative) { EXPECT_EQ(epsilon_of_rdp(List{64}, List{1e-9}, 0.5).epsilon, 0); }

TEST(Conversion, AtDeltaZeroIsInfiniteUnlessNothingIsTold) {
  EXPECT_EQ(epsilon_of_rdp(List{2, 3}, List{1e-300, 1e-300}, 0).epsilon, kInfinity);
  EXPECT_EQ(epsilon_of_rdp(List{2, 3}, List{0, 0}, 0).epsilon, 0);
  EXPECT_EQ(delta_of_rdp(List{2, 3}, List{0, 0}, 0), 0);
}

// By hand: exp(-D) + exp(-2 D) = 1 where exp(-D) is the golden ratio less one.
TEST(Conversion, OfAFilterPaysForTheChoiceOfAnOrder) {
  const double more = std::log((1 + std::sqrt(5.0)) / 2);
  EXPECT_NEAR(epsilon_of_filter(List{2, 3}, 20, 1e-5), 20 + more, 1e-9);
  // Order 2 pays for nothing below 10.1 (11.5 by the classic conversion), order 3 for nothing below 4.8.
  EXPECT_EQ(epsilon_of_filter(List{2, 3}, 10, 1e-5), 10);
  EXPECT_NEAR(epsilon_of_filter(List{2, 3}, 10.2, 1e-5), 10.2 + more, 1e-9);
  EXPECT_EQ(epsilon_of_filter(List{2, 3}, 10.2, 1e-5, Conversion::kClassic), 10.2);
  EXPECT_EQ(epsilon_of_filter(List{2, 3}, 1, 1e-5), 1) << "pure epsilons alone pay";
  EXPECT_EQ(epsilon_of_filter(List{2, 3}, 1, 0), 1);
  EXPECT_EQ(epsilon_of_filter(List{2, 3}, kInfinity, 1e-5), kInfinity);
  EXPECT_THROW(epsilon_of_filter(List{2, 3}, -1, 1e-5), Error);
  EXPECT_THROW(epsilon_of_filter(List{1, 3}, 1, 1e-5), Error);
}

TEST(Conversion, ToDeltaReproducesTheReference) {
  const List orders = rdp_orders("opacus");
  const auto delta_of = [&](double rate, double noise, double steps, double epsilon) {
    List divergences = rdp(poisson(rate, noise), orders);
    for (double& divergence : divergences) divergence *= steps;
    return delta_of_rdp(orders, divergences, epsilon);
  };
  expect_relative(delta_of(0.0256, 1, 200, 3), 3.4411468629145360e-6, 1e-12);
  expect_relative(delta_of(1, 5, 100, 2), 5.9317525435529023e-1, 1e-12);
  expect_relative(delta_of(0.5, 20, 10, 0.5), 6.6548932043440624e-11, 1e-12);
  for (const ReferenceRow& row : reference_rows("delta_rdp.csv")) {
    expect_relative(delta_of(row.number("q"), row.number("sigma"), row.number("steps"), row.number("eps")),
                    row.number("delta"), 1e-11);
  }
}

TEST(Conversion, ToDeltaInvertsTheOneToEpsilon) {
  const List orders = rdp_orders("default"), divergences = rdp(Gaussian{1.3}, orders);
  for (const double delta : {1e-12, 1e-5, 0.01}) {
    const double epsilon = epsilon_of_rdp(orders, divergences, delta).epsilon;
    expect_relative(delta_of_rdp(orders, divergences, epsilon), delta, 1e-12);
  }
}

TEST(Conversion, ToDeltaIsAProbability) {
  EXPECT_EQ(delta_of_rdp(List{2}, List{100}, 1), 1);
  EXPECT_EQ(delta_of_rdp(List{2}, List{kInfinity}, 1), 1);
  EXPECT_EQ(delta_of_rdp(List{2}, List{1}, kInfinity), 0);
}

TEST(Conversion, HasNames) {
  EXPECT_EQ(conversion_of("balle"), Conversion::kBalle);
  EXPECT_EQ(conversion_of("classic"), Conversion::kClassic);
  expect_refused(has_all("unknown conversion \"clasic\"", "balle, classic"), [] { conversion_of("clasic"); });
}

TEST(Conversion, RefusesWhatIsOutside) {
  for (const double delta : {1.0, 1.5, -0.1, std::nan("")}) {
    expect_refused("allowed: 0 <= delta < 1", [&] { epsilon_of_rdp(List{2}, List{1}, delta); });
  }
  for (const double order : {1.0, 0.0, std::nan(""), kInfinity}) {
    expect_refused("a finite number > 1", [&] { epsilon_of_rdp(List{order}, List{1}, 0.1); });
  }
  for (const double divergence : {-1.0, std::nan("")}) {
    EXPECT_THROW(epsilon_of_rdp(List{2}, List{divergence}, 0.1), Error);
  }
  EXPECT_THROW(epsilon_of_rdp({}, {}, 0.1), Error);
  EXPECT_THROW(delta_of_rdp(List{2}, List{1}, -1), Error);
  EXPECT_THROW(delta_of_rdp(List{2}, List{1}, std::nan("")), Error);
}

}  // namespace
}  // namespace fedarena
