#include "fedarena/matching.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/layers.hpp"
#include "fedarena/model.hpp"
#include "fedarena/random.hpp"

namespace fedarena {
namespace {

// A convolution, a normalisation and an affine map: tensors of four, two and one dimensions.
const Model& model() {
  static const Model kept({.input_shape = {2, 4, 4},
                           .outputs = 3,
                           .layers = {Conv2d{2, 3, 3, 1}, GroupNorm{3, 3}, Flatten{}, Linear{48, 3}}},
                          torch::kFloat64);
  return kept;
}

Params random_params(std::uint64_t seed) {
  Stream stream({.seed = seed});
  return {model().layout(), normal(stream, {model().layout()->numel()})};
}

std::vector<GradientMatching> all_criteria() {
  std::vector<GradientMatching> all;
  for (const char* criterion : {"cosine", "squared", "cosine+squared"}) {
    for (const char* rows : {"sum", "mean"}) {
      all.push_back({.criterion = criterion, .squared_weight = 0.3, .cosine_rows = rows});
    }
  }
  return all;
}

// Equations 9, 10 and 21, number by number.
double by_hand(const Params& matched, const Params& target, const GradientMatching& how) {
  double total = 0;
  for (std::size_t tensor = 0; tensor < matched.size(); ++tensor) {
    const torch::Tensor left = matched[tensor].contiguous(), right = target[tensor].contiguous();
    const std::int64_t rows = left.dim() == 1 ? 1 : left.size(0), width = left.numel() / rows;
    double cosines = 0, squares = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      double product = 0, left_square = 0, right_square = 0;
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
        const double a = left.data_ptr<double>()[i], b = right.data_ptr<double>()[i];
        product += a * b;
        left_square += a * a;
        right_square += b * b;
        squares += (a - b) * (a - b);
      }
      cosines += 1 - product / std::sqrt(left_square * right_square);
    }
    if (how.cosine_rows == "mean") cosines /= static_cast<double>(rows);
    if (how.criterion == "cosine") total += cosines;
    if (how.criterion == "squared") total += squares;
    if (how.criterion == "cosine+squared") total += cosines + how.squared_weight * squares;
  }
  return total;
}

TEST(MatchingDistance, IsThatOfThePaper) {
  const Params matched = random_params(1), target = random_params(2);
  for (const GradientMatching& how : all_criteria()) {
    const double expected = by_hand(matched, target, how);
    EXPECT_NEAR(matching_distance(matched, target, how).value, expected, 1e-12 * expected) << how.criterion;
  }
}

TEST(MatchingDistance, HasTheSlopeOfItsValue) {
  const Params matched = random_params(3), target = random_params(4);
  constexpr double kStep = 1e-6;
  for (const GradientMatching& how : all_criteria()) {
    const MatchingDistance distance = matching_distance(matched, target, how);
    for (std::uint64_t seed = 10; seed < 15; ++seed) {
      const Params direction = random_params(seed);
      const double ahead = matching_distance(matched + kStep * direction, target, how).value;
      const double behind = matching_distance(matched - kStep * direction, target, how).value;
      EXPECT_NEAR(dot(distance.slope, direction), (ahead - behind) / (2 * kStep), 1e-6)
          << how.criterion << ", " << how.cosine_rows;
    }
  }
}

TEST(MatchingDistance, OfCosinesIgnoresLengthsOfRows) {
  const Params matched = random_params(5), target = random_params(6);
  for (const GradientMatching& how : all_criteria()) {
    const double change = std::abs(matching_distance(matched, 7 * target, how).value -
                                   matching_distance(matched, target, how).value);
    if (how.criterion == "cosine") {
      EXPECT_LE(change, 1e-12);
    } else {
      EXPECT_GT(change, 1);
    }
    EXPECT_NEAR(matching_distance(matched, matched, how).value, 0, 1e-12);
  }
}

TEST(MatchingDistance, OfARowWithoutDirectionIsOneAndFlat) {
  const Params zero = zeros_like(random_params(7)), target = random_params(8);
  const GradientMatching cosine{.criterion = "cosine"};
  // Rows of the layout: 3 of the convolution, 3 of the affine map, and four vectors.
  EXPECT_DOUBLE_EQ(matching_distance(zero, target, cosine).value, 3 + 3 + 4);
  EXPECT_EQ(norm(matching_distance(zero, target, cosine).slope), 0);
  EXPECT_EQ(norm(matching_distance(target, zero, cosine).slope), 0);
  const GradientMatching squared{.criterion = "squared"};
  EXPECT_NEAR(matching_distance(zero, target, squared).value, std::pow(norm(target), 2), 1e-9);
}

TEST(MatchingDistance, TakesNoDirectionFromRounding) {
  const Params target = random_params(9);
  Params matched = random_params(11);
  matched[1].mul_(1e-16);  // the convolution's bias
  const GradientMatching cosine{.criterion = "cosine"};
  EXPECT_EQ(matching_distance(matched, target, cosine).slope[1].abs().max().item<double>(), 0);
  matched[1].mul_(1e6);
  EXPECT_GT(matching_distance(matched, target, cosine).slope[1].abs().max().item<double>(), 1);
}

TEST(GradientMatching, IsReadByName) {
  const GradientMatching how = GradientMatching::schema().read({{"criterion", "squared"}});
  EXPECT_EQ(how.criterion, "squared");
  EXPECT_EQ(how.cosine_rows, "sum");
  EXPECT_THROW(GradientMatching::schema().read({{"criterion", "mse"}}), Error);
}

}  // namespace
}  // namespace fedarena
