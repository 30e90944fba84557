// The exact Gaussian mechanism and the optimal composition of pure ones.
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "fedarena/accounting/conversion.hpp"
#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"

#include "tests/accounting/reference_files.hpp"
#include "tests/accounting/samples.hpp"
#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

using Blocks = std::vector<GaussianBlock>;

TEST(ExactGaussian, ReproducesReferenceNumbers) {
  expect_relative(gaussian_delta(4, 1), 4.7122412007931199e-5, 1e-13);
  expect_relative(gaussian_delta(2.5, 3), 4.7238409352907017e-15, 1e-13);
  expect_relative(gaussian_epsilon(1e-5, 1), 4.3771780956812246, 1e-14);
  expect_relative(gaussian_epsilon(1e-12, 5), 1.3241111431653735, 1e-14);
  expect_relative(gaussian_noise_multiplier(1, 1e-6), 4.2246788893268353, 1e-14);
  expect_relative(gaussian_noise_multiplier(50, 1e-5), 1.4976060756083602e-1, 1e-14);
  EXPECT_EQ(gaussian_epsilon(0.05, 10), 0);
}

TEST(ExactGaussian, ReproducesTheTablesOfReference) {
  for (const ReferenceRow& row : reference_rows("gaussian_delta.csv")) {
    expect_relative(gaussian_delta(row.number("eps"), row.number("sigma")), row.number("delta"), 1e-13);
  }
  for (const ReferenceRow& row : reference_rows("gaussian_eps.csv")) {
    expect_relative(gaussian_epsilon(row.number("delta"), row.number("sigma")), row.number("eps"), 1e-13);
  }
  for (const ReferenceRow& row : reference_rows("gaussian_sigma.csv")) {
    expect_relative(gaussian_noise_multiplier(row.number("eps"), row.number("delta")), row.number("sigma"),
                    1e-13);
  }
  for (const ReferenceRow& row : reference_rows("gaussian_composition.csv")) {
    Blocks blocks;
    double divergence = 0;
    for (const auto& block : nlohmann::json::parse(row.text("blocks"))) {
      blocks.push_back({block[0], block[1]});
      divergence += blocks.back().count * rdp(Gaussian{blocks.back().noise_multiplier}, 2);
    }
    const double noise = composed_noise_multiplier(blocks);
    expect_relative(noise, row.number("sigma_eff"), 1e-15);
    expect_relative(gaussian_epsilon(row.number("delta"), noise), row.number("eps_exact"), 1e-13);
    expect_relative(divergence, row.number("rdp_at_2"), 1e-15);
  }
}

// Half of the total variation distance times two: delta at epsilon 0 is erf(1 / (2 sqrt(2) noise)).
TEST(ExactGaussian, AtEpsilonZeroIsTheTotalVariation) {
  for (const double noise : {1e-3, 0.1, 0.9, 1.1, 10.0, 1e6, 1e12}) {
    expect_relative(gaussian_delta(0, noise), std::erf(1 / (2 * std::sqrt(2) * noise)), 1e-13);
  }
}

TEST(ExactGaussian, InvertsItself) {
  for (const double noise : {0.05, 0.7, 3.0, 200.0}) {
    for (const double delta : {1e-300, 1e-30, 1e-10, 1e-3}) {
      const double epsilon = gaussian_epsilon(delta, noise);
      if (epsilon == 0) continue;
      EXPECT_LE(gaussian_delta(epsilon, noise), delta * (1 + 1e-12));
      expect_relative(gaussian_delta(epsilon, noise), delta, 1e-9 * (1 + epsilon));
      expect_relative(gaussian_noise_multiplier(epsilon, delta), noise, 1e-11);
    }
  }
}

TEST(ExactGaussian, FallsWithEpsilonAndNoise) {
  double before = 1;
  for (double epsilon = 0; epsilon < 12; epsilon += 0.01) {
    const double delta = gaussian_delta(epsilon, 0.99);
    EXPECT_LT(delta, before);
    EXPECT_GT(delta, gaussian_delta(epsilon, 1.01));  // across the change of formula
    before = delta;
  }
}

TEST(ExactGaussian, IsBelowRdp) {
  for (const double noise : {0.3, 1.0, 8.0}) {
    RdpAccountant accountant(rdp_orders("default"));
    accountant.add(Gaussian{noise});
    EXPECT_LE(gaussian_epsilon(1e-5, noise), accountant.epsilon(1e-5).epsilon);
  }
}

TEST(ExactGaussian, HandlesTheEndsOfTheRanges) {
  EXPECT_EQ(gaussian_delta(3, 0), 1);
  EXPECT_EQ(gaussian_delta(kInfinity, 1), 0);
  EXPECT_EQ(gaussian_delta(1, 1e-300), 1);
  EXPECT_EQ(gaussian_epsilon(0, 1), kInfinity);
  EXPECT_EQ(gaussian_epsilon(1e-5, 0), kInfinity);
  EXPECT_GT(gaussian_epsilon(1e-5, 0.01), 5000);
  EXPECT_LT(gaussian_epsilon(1e-5, 0.01), 5500);
  EXPECT_EQ(gaussian_noise_multiplier(kInfinity, 1e-5), 0);
  EXPECT_GT(gaussian_noise_multiplier(0, 1e-5), 1e4);
}

TEST(ExactGaussian, ComposesIntoOne) {
  EXPECT_DOUBLE_EQ(composed_noise_multiplier(Blocks{{3, 1}, {4, 1}}), 2.4);
  EXPECT_DOUBLE_EQ(composed_noise_multiplier(Blocks{{10, 100}}), 1);
  EXPECT_DOUBLE_EQ(composed_noise_multiplier(Blocks{{1e-200, 4}}), 5e-201);
  EXPECT_EQ(composed_noise_multiplier(Blocks{{3, 1}, {0, 1}}), 0);
  EXPECT_EQ(composed_noise_multiplier(Blocks{{3, 0}, {0, 0}}), kInfinity);
}

TEST(ExactGaussian, RefusesWhatIsOutside) {
  const double nan = std::nan("");
  for (const double noise : {-1.0, nan, kInfinity}) {
    expect_refused("noise multiplier", [&] { gaussian_delta(1, noise); });
    expect_refused("noise multiplier", [&] { gaussian_epsilon(1e-5, noise); });
    EXPECT_THROW(composed_noise_multiplier(Blocks{{noise, 1}}), Error);
  }
  for (const double epsilon : {-1.0, nan}) {
    expect_refused("epsilon is", [&] { gaussian_delta(epsilon, 1); });
    expect_refused("epsilon is", [&] { gaussian_noise_multiplier(epsilon, 0.1); });
  }
  for (const double delta : {-1.0, 1.0, nan}) {
    expect_refused("0 <= delta < 1", [&] { gaussian_epsilon(delta, 1); });
    expect_refused("0 < delta < 1", [&] { gaussian_noise_multiplier(1, delta); });
  }
  EXPECT_THROW(gaussian_noise_multiplier(1, 0), Error);
  EXPECT_THROW(composed_noise_multiplier(Blocks{{1, -1}}), Error);
}

TEST(PureEpsilon, IsThatOfTheMechanism) {
  EXPECT_EQ(pure_epsilon(Laplace{7, 0.5}), 0.5);
  EXPECT_EQ(pure_epsilon(RandomizedResponse{3, 2}), 2);
  EXPECT_EQ(pure_epsilon(Composition{{{Laplace{1, 0.5}, 3}, {RandomizedResponse{3, 2}, 1}}}), 3.5);
  EXPECT_EQ(pure_epsilon(poisson(0, 1)), 0);
  EXPECT_EQ(pure_epsilon(Composition{}), 0);
  for (const Event& event : {Event(ExactAccess{"loss"}), Event(Gaussian{9}), poisson(0.1, 1)}) {
    EXPECT_EQ(pure_epsilon(event), kInfinity);
  }
  EXPECT_THROW(pure_epsilon(Laplace{0, 1}), Error);
}

TEST(OptimalComposition, ReproducesReferenceNumbers) {
  expect_relative(optimal_composition_epsilon(0.1, 10, 1e-5), 9.9369117675933592e-1, 1e-13);
  expect_relative(optimal_composition_epsilon(0.01, 1000, 1e-5), 1.1977327983086730, 1e-13);
  expect_relative(optimal_composition_epsilon(8, 15, 1e-5), 119.99998994951177, 1e-13);
  for (const ReferenceRow& row : reference_rows("pure_composition.csv")) {
    const double each = row.number("eps_each"), delta = row.number("delta");
    const std::int64_t count = row.whole("k");
    expect_relative(static_cast<double>(count) * each, row.number("eps_basic"), 1e-15);
    expect_relative(optimal_composition_epsilon(each, count, 0), row.number("eps_basic"), 1e-15);
    expect_relative(optimal_composition_epsilon(each, count, delta), row.number("eps_optimal"), 1e-12);
    expect_relative(advanced_composition_epsilon(each, count, delta), row.number("eps_advanced_DRV"), 1e-14);
    expect_relative(optimal_composition_delta(each, count, static_cast<double>(count) * each / 2),
                    row.number("delta_at_half_basic"), 1e-12);
  }
}

// One response: delta = (e^eps - e^total) / (1 + e^eps).
TEST(OptimalComposition, OfOneIsTheBinaryResponse) {
  expect_relative(optimal_composition_delta(2, 1, 0.5), (std::exp(2) - std::exp(0.5)) / (1 + std::exp(2)),
                  1e-14);
  EXPECT_EQ(optimal_composition_delta(2, 1, 2), 0);
  EXPECT_EQ(optimal_composition_delta(2, 1, 3), 0);
}

TEST(OptimalComposition, HandlesTheEndsOfTheRanges) {
  EXPECT_EQ(optimal_composition_delta(0, 5, 0), 0);
  EXPECT_EQ(optimal_composition_epsilon(0, 5, 1e-5), 0);
  EXPECT_EQ(optimal_composition_epsilon(0.1, 1, 0.5), 0);
  const double many = optimal_composition_epsilon(1e-4, 1'000'000'000, 1e-6);
  EXPECT_GT(many, 10);
  EXPECT_LT(many, 30);
  EXPECT_NEAR(optimal_composition_delta(700, 3, 10), 1, 1e-12);
}

TEST(OptimalComposition, RefusesWhatIsOutside) {
  const double nan = std::nan("");
  for (const double epsilon : {-1.0, nan, kInfinity}) {
    EXPECT_THROW(optimal_composition_epsilon(epsilon, 1, 1e-5), Error);
  }
  for (const double delta : {-1.0, nan, 1.0}) {
    EXPECT_THROW(optimal_composition_epsilon(1, 1, delta), Error);
    EXPECT_THROW(advanced_composition_epsilon(1, 1, delta), Error);
  }
  EXPECT_THROW(optimal_composition_epsilon(1, 0, 1e-5), Error);
  EXPECT_THROW(optimal_composition_delta(1, 1, -1), Error);
}

// However large epsilon is: no Gaussian is pure.
TEST(GaussianDelta, IsAboveZero) {
  EXPECT_GT(gaussian_delta(60, 1), 0);
  EXPECT_GT(delta_of_rdp(std::vector{2.0}, std::vector{1.0}, 1e5), 0);
  EXPECT_EQ(gaussian_delta(kInfinity, 1), 0);
}

}  // namespace
}  // namespace fedarena
