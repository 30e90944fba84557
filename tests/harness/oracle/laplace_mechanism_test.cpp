// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include "harness/oracle/laplace_mechanism.hpp"

#include <cmath>
#include <vector>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include "fedarena/base/error.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/sdk/numbers_of.hpp"

namespace fedarena {
namespace {

std::unique_ptr<RandomSource> stream_noise(std::uint64_t seed = 1) {
  return make_noise_source(kStreamNoise, Streams(seed, 1, 0));
}

// Noise vectors of that scale as rows: float64 [count, n].
torch::Tensor laplace_draws(std::int64_t n, std::int64_t count, double scale, RandomSource& source) {
  RoundAccesses book;
  torch::Tensor draws = torch::zeros({count, n}, torch::kFloat64);
  for (std::int64_t i = 0; i < count; ++i) LaplaceRelease::metric(n, scale, book).noise(draws[i], source, 1);
  return draws;
}

// Radii through the distribution function that they ought to have.
std::vector<double> uniform_radii(const torch::Tensor& draws, double scale) {
  std::vector<double> radii = numbers_of(draws.norm(2, 1));
  for (double& radius : radii)
    radius = boost::math::gamma_p(static_cast<double>(draws.size(1)), radius / scale);
  return radii;
}

// How far the number of draws below `bound` is off, in standard errors of a binomial.
double below_z(const std::vector<double>& draws, double bound, double probability) {
  double below = 0;
  for (const double draw : draws) below += draw <= bound ? 1 : 0;
  const auto count = static_cast<double>(draws.size());
  return (below - count * probability) / std::sqrt(count * probability * (1 - probability));
}

constexpr std::int64_t kLaplaceDraws = 20'000;
constexpr double kScale = 0.5;

TEST(LaplaceRelease, HasAGammaRadius) {
  const auto source = stream_noise();
  for (const std::int64_t n : {1, 2, 11}) {
    EXPECT_LT(kolmogorov_of_uniform(uniform_radii(laplace_draws(n, kLaplaceDraws, kScale, *source), kScale)),
              kKolmogorovBound)
        << n;
  }
  std::vector<double> far;
  for (int i = 0; i < 40; ++i)
    far.push_back(uniform_radii(laplace_draws(1'000'000, 1, kScale, *source), kScale).front());
  EXPECT_LT(kolmogorov_of_uniform(far), kKolmogorovBound);
}

// The cosine with an axis is Beta((n-1)/2, (n-1)/2) on [-1, 1]; on the line, a sign.
TEST(LaplaceRelease, HasAUniformDirection) {
  const auto source = stream_noise(2);
  for (const std::int64_t n : {2, 11}) {
    const torch::Tensor draws = laplace_draws(n, kLaplaceDraws, kScale, *source);
    for (const std::int64_t axis : {std::int64_t{0}, n - 1}) {
      std::vector<double> cosines = numbers_of(draws.select(1, axis) / draws.norm(2, 1));
      const double half = static_cast<double>(n - 1) / 2;
      for (double& cosine : cosines) cosine = boost::math::ibeta(half, half, (1 + cosine) / 2);
      EXPECT_LT(kolmogorov_of_uniform(cosines), kKolmogorovBound) << n << ", axis " << axis;
    }
  }
  const std::vector<double> line = numbers_of(laplace_draws(1, kLaplaceDraws, kScale, *source));
  EXPECT_LT(std::abs(below_z(line, 0, 0.5)), kNormalBound);
}

// Large radii have no direction of their own.
TEST(LaplaceRelease, HasADirectionThatTheRadiusDoesNotTell) {
  const auto source = stream_noise(3);
  const torch::Tensor draws = laplace_draws(2, kLaplaceDraws, kScale, *source);
  const torch::Tensor radius = draws.norm(2, 1);
  std::vector<double> far;
  for (std::int64_t i = 0; i < kLaplaceDraws; ++i) {
    const double x = draws[i][0].item<double>(), y = draws[i][1].item<double>();
    if (std::hypot(x, y) > 2 * kScale) far.push_back(0.5 + std::atan2(y, x) / (2 * std::acos(-1.0)));
  }
  EXPECT_GT(far.size(), 5'000U);
  EXPECT_LT(kolmogorov_of_uniform(far), kKolmogorovBound);
}

TEST(LaplaceRelease, HasThePublishedRadius) {
  const auto source = stream_noise(4);
  for (const std::int64_t n : {1, 2, 11, 100}) {
    const std::vector<double> radii =
        numbers_of(laplace_draws(n, kLaplaceDraws / 4, kScale, *source).norm(2, 1));
    for (const ReferenceRow& row : reference_rows("dprivacy_radius_cdf.csv")) {
      if (row.whole("n") != n) continue;
      EXPECT_NEAR(boost::math::gamma_p(static_cast<double>(n), row.number("eps_times_r")), row.number("cdf"),
                  1e-13);
      EXPECT_LT(std::abs(below_z(radii, kScale * row.number("eps_times_r"), row.number("cdf"))), kNormalBound)
          << n;
    }
  }
}

TEST(LaplaceRelease, HasThePublishedMarginal) {
  const auto source = stream_noise(5);
  for (const std::int64_t n : {1, 2, 11, 100}) {
    const std::vector<double> component =
        numbers_of(laplace_draws(n, kLaplaceDraws / 4, kScale, *source).select(1, 0));
    for (const ReferenceRow& row : reference_rows("dprivacy_component_marginal.csv")) {
      // With a hundred draws expected on either side, counts are near enough to normal.
      if (row.whole("n") != n || row.number("sf") < 0.02) continue;
      EXPECT_LT(std::abs(below_z(component, kScale * row.number("eps_times_x"), row.number("cdf"))),
                kNormalBound)
          << n << " at " << row.number("eps_times_x");
    }
  }
}

TEST(LaplaceRelease, HasThePublishedMoments) {
  const auto source = stream_noise(6);
  for (const ReferenceRow& row : reference_rows("dprivacy_moments.csv")) {
    const std::int64_t n = row.whole("n");
    if (n > 100) continue;
    const torch::Tensor draws = laplace_draws(n, kLaplaceDraws / 2, 1 / row.number("eps"), *source);
    EXPECT_LT(std::abs(mean_z(numbers_of(draws.norm(2, 1)), row.number("E_r"), row.number("Var_r"))),
              kNormalBound);
    const std::vector<double> component = numbers_of(draws.select(1, n - 1));
    EXPECT_LT(std::abs(mean_z(component, 0, row.number("component_var"))), kNormalBound);
    EXPECT_LT(std::abs(variance_z(component, 0, row.number("component_var"), row.number("component_4th"))),
              kNormalBound);
  }
}

TEST(LaplaceRelease, HasTheSameLawFromTheSystem) {
  const auto source = make_noise_source(kSystemNoise, Streams(1, 1, 0));
  for (const std::int64_t n : {1, 2, 11}) {
    EXPECT_LT(
        kolmogorov_of_uniform(uniform_radii(laplace_draws(n, kLaplaceDraws / 4, kScale, *source), kScale)),
        kKolmogorovBound)
        << n;
  }
}

TEST(LaplaceRelease, DrawsFromTheNumbersThatItWritesDown) {
  RoundAccesses book;
  const auto drawn = [&](const LaplaceRelease& release, double norm = 1) {
    torch::Tensor values = torch::zeros({3}, torch::kFloat64);
    release.noise(values, *stream_noise(), norm);
    return values;
  };
  const torch::Tensor unit = drawn(LaplaceRelease::metric(3, 1, book));
  EXPECT_TRUE(torch::allclose(drawn(LaplaceRelease::bounded(3, 4, 2, book)), 4 * unit));
  EXPECT_TRUE(torch::allclose(drawn(LaplaceRelease::relative(3, 6, book), 5), 10 * unit)) << "6 * 5 / 3";
  EXPECT_EQ(drawn(LaplaceRelease::relative(3, 6, book), 0).abs().sum().item<double>(), 0);
  const Event relative = ExactAccess{"messages, under noise scaled by their own norm"};
  EXPECT_EQ(book.list(), (std::vector<Access>{{MetricLaplace{3, 1}, 1},
                                              {Laplace{3, 0.5}, 1},
                                              {relative, 1},
                                              {Nominal{"n/nu", 0.5}, 1},
                                              {relative, 1},
                                              {Nominal{"n/nu", 0.5}, 1}}));
}

TEST(LaplaceRelease, IsAnExactAccessWithoutNoise) {
  RoundAccesses book;
  torch::Tensor values = torch::ones({2}, torch::kFloat64);
  LaplaceRelease::metric(2, 0, book).noise(values, *stream_noise(), 1);
  LaplaceRelease::bounded(2, 0, 1, book).noise(values, *stream_noise(), 1);
  EXPECT_TRUE(torch::equal(values, torch::ones({2}, torch::kFloat64)));
  EXPECT_EQ(book.list(), (std::vector<Access>{{ExactAccess{"messages"}, 2}}));
  EXPECT_THROW(LaplaceRelease::metric(3, 1, book).noise(values, *stream_noise(), 1), Bug);
}

}  // namespace
}  // namespace fedarena
