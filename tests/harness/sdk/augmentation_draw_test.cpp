// Which operations are drawn, and with which numbers.
// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fedarena/augmentation.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

#include "tests/harness/base/statistical_bounds.hpp"

namespace fedarena {
namespace {

using A = Augmentation;

const std::string kAllOperations = "color_crop_cutout_flip_scale_rotate";

TEST(AugmentationDraw, IsAFunctionOfTheStream) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Stream one({.seed = seed}), same({.seed = seed}), other({.seed = seed + 1000});
    const std::string strategy = "color_crop_cutout_scale_rotate";  // a flip has no number to tell it by
    const A first = A::draw(strategy, one);
    EXPECT_EQ(first, A::draw(strategy, same));
    EXPECT_NE(first, A::draw(strategy, other));
    EXPECT_EQ(one(), same());
  }
}

TEST(AugmentationDraw, TakesNothingForNone) {
  Stream stream({.seed = 5}), untouched({.seed = 5});
  EXPECT_EQ(A::draw("none", stream), A());
  EXPECT_EQ(stream(), untouched());
}

// How often each operation of a strategy is drawn, by its place in Operation.
std::map<std::size_t, std::int64_t> frequencies(const std::string& strategy) {
  Stream stream({.seed = 6});
  std::map<std::size_t, std::int64_t> counts;
  for (int i = 0; i < 12'000; ++i) ++counts[A::draw(strategy, stream).operation().index()];
  return counts;
}

TEST(AugmentationDraw, TakesEveryOperationEquallyOften) {
  const std::size_t color = A::Operation(A::Color{}).index(), crop = A::Operation(A::Crop{}).index(),
                    cutout = A::Operation(A::Cutout{}).index(), flip = A::Operation(A::Flip{}).index(),
                    scale = A::Operation(A::Scale{}).index(), rotate = A::Operation(A::Rotate{}).index();
  const std::map<std::string, std::vector<std::size_t>> strategies{
      {kAllOperations, {color, crop, cutout, flip, scale, rotate}},
      {"rotate_flip_color", {color, flip, rotate}},
      {"scale_cutout", {cutout, scale}},
      {"crop", {crop}}};
  for (const auto& [strategy, named] : strategies) {
    std::vector<std::size_t> drawn;
    std::vector<std::int64_t> counts;
    for (const auto& [operation, count] : frequencies(strategy)) {
      drawn.push_back(operation);
      counts.push_back(count);
    }
    EXPECT_EQ(drawn, named) << strategy;
    if (counts.size() > 1) {
      EXPECT_TRUE(equally_likely(counts)) << strategy;
    }
  }
}

// The numbers of an operation as parts of their published ranges.
std::vector<double> parts(const A::Operation& operation) {
  const auto scale = [](double factor) { return (factor - 1 / 1.2) / (1.2 - 1 / 1.2); };
  return std::visit(
      Overload{[](const A::None&) -> std::vector<double> { return {}; },
               [](const A::Color& color) -> std::vector<double> {
                 return {color.brightness + 0.5, color.saturation / 2, color.contrast - 0.5};
               },
               [](const A::Crop& crop) -> std::vector<double> {
                 return {crop.row, crop.column};
               },
               [](const A::Cutout& cutout) -> std::vector<double> {
                 return {cutout.row, cutout.column};
               },
               [](const A::Flip&) -> std::vector<double> { return {}; },
               [&](const A::Scale& factors) -> std::vector<double> {
                 return {scale(factors.width), scale(factors.height)};
               },
               [](const A::Rotate& rotate) -> std::vector<double> { return {rotate.degrees / 30 + 0.5}; }},
      operation);
}

TEST(AugmentationDraw, TakesNumbersUniformlyFromThePublishedRanges) {
  const std::map<std::string, std::size_t> numbers{
      {"color", 3}, {"crop", 2}, {"cutout", 2}, {"scale", 2}, {"rotate", 1}};
  for (const auto& [strategy, count] : numbers) {
    SCOPED_TRACE(strategy);
    Stream stream({.seed = 8});
    std::vector<std::vector<double>> samples(count);
    std::vector<double> sums;
    for (int i = 0; i < 10'000; ++i) {
      const std::vector<double> drawn = parts(A::draw(strategy, stream).operation());
      ASSERT_EQ(drawn.size(), count);
      for (std::size_t k = 0; k < count; ++k) {
        EXPECT_GE(drawn[k], -1e-15);
        EXPECT_LE(drawn[k], 1 + 1e-15);
        samples[k].push_back(drawn[k]);
      }
      if (count > 1) sums.push_back(drawn[0] + drawn[1]);
    }
    for (const std::vector<double>& sample : samples) {
      EXPECT_LT(kolmogorov_of_uniform(sample), kKolmogorovBound);
      // The ranges are used up to their ends: no number within 0.0014 of one has probability 1e-6.
      const auto [least, largest] = std::minmax_element(sample.begin(), sample.end());
      EXPECT_LT(*least, 0.0014);
      EXPECT_GT(*largest, 1 - 0.0014);
    }
    // Drawn separately: the variance of a sum is that of both, 1/6; its fourth central moment is 1/15.
    if (count > 1) {
      EXPECT_LT(std::abs(variance_z(sums, 1, 1.0 / 6, 1.0 / 15)), kNormalBound);
    }
  }
}

TEST(AugmentationDraw, FlipsHalfTheTime) {
  Stream stream({.seed = 9});
  std::vector<std::int64_t> counts(2);
  for (int i = 0; i < 10'000; ++i) {
    ++counts[std::get<A::Flip>(A::draw("flip", stream).operation()).flipped ? 1 : 0];
  }
  EXPECT_TRUE(equally_likely(counts));
}

// The complaint about a strategy, which `draw` must raise, too.
Complaint complaint_about(const std::string& strategy) {
  Stream stream({.seed = 10});
  EXPECT_THROW(A::draw(strategy, stream), Error) << strategy;
  try {
    A::validate(strategy);
  } catch (const Error& error) {
    return error.complaint();
  }
  ADD_FAILURE() << strategy << " is accepted";
  return {};
}

TEST(AugmentationStrategy, MayBeNoneOrSomeOfTheOperations) {
  for (const char* strategy : {"none", "color", "rotate_flip", kAllOperations.c_str()}) {
    EXPECT_NO_THROW(A::validate(strategy)) << strategy;
  }
}

TEST(AugmentationStrategy, IsComplainedAboutWithWhatIsAllowed) {
  const std::string allowed = "none, or some of color, crop, cutout, flip, scale, rotate, joined by \"_\"";
  const Complaint misspelt = complaint_about("color_crop_cutuot");
  EXPECT_EQ(misspelt.found, "\"cutuot\" in \"color_crop_cutuot\" is not an augmentation");
  EXPECT_EQ(misspelt.allowed, allowed);
  EXPECT_EQ(misspelt.nearest, "cutout");
  EXPECT_EQ(complaint_about("nnoe").nearest, "none");
  EXPECT_EQ(complaint_about("Flip").nearest, "flip");
  const Complaint empty = complaint_about("");
  EXPECT_EQ(empty.found, "the augmentation is empty");
  EXPECT_EQ(empty.allowed, allowed);
  for (const char* strategy : {"flip_", "_flip", "flip__crop", "_", "none_flip", "flip_none", "flip,crop"}) {
    EXPECT_EQ(complaint_about(strategy).allowed, allowed) << strategy;
  }
}

TEST(AugmentationStrategy, NamesEachOperationOnce) {
  EXPECT_EQ(complaint_about("flip_crop_flip").found, "\"flip\" is in \"flip_crop_flip\" twice");
  EXPECT_EQ(complaint_about("crop_crop").remedy, "Name it once; all operations are drawn alike.");
}

}  // namespace
}  // namespace fedarena
