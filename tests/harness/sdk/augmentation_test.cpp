// Error rates: each statistical comparison raises a false alarm with probability 1e-6 over seeds.
#include "fedarena/augmentation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"
#include "fedarena/random.hpp"

#include "tests/harness/base/statistical_bounds.hpp"
#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

using torch::Tensor;
using A = Augmentation;

const std::string kAll = "color_crop_cutout_flip_scale_rotate";
const std::vector<std::vector<std::int64_t>> kShapes{{1, 8, 8}, {3, 6, 9}, {3, 7, 4}, {1, 5, 3}, {3, 32, 32}};

// A plain image in double, 0 outside.
struct Image {
  explicit Image(const std::vector<std::int64_t>& shape)
      : channels(shape[0]),
        height(shape[1]),
        width(shape[2]),
        values(static_cast<std::size_t>(channels * height * width)) {}
  explicit Image(const Tensor& tensor) : Image(tensor.sizes().vec()) {
    const Tensor doubles = tensor.to(torch::kFloat64).contiguous();
    std::copy_n(doubles.data_ptr<double>(), values.size(), values.begin());
  }
  double& at(std::int64_t c, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>((c * height + y) * width + x)];
  }
  double operator()(std::int64_t c, std::int64_t y, std::int64_t x) const {
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    return inside ? values[static_cast<std::size_t>((c * height + y) * width + x)] : 0;
  }
  Tensor tensor() const { return torch::tensor(values, torch::kFloat64).view({channels, height, width}); }

  std::int64_t channels, height, width;
  std::vector<double> values;
};

// A new image, pixel by pixel.
Image made_of(const Image& from,
              const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& value) {
  Image result({from.channels, from.height, from.width});
  for (std::int64_t c = 0; c < from.channels; ++c) {
    for (std::int64_t y = 0; y < from.height; ++y) {
      for (std::int64_t x = 0; x < from.width; ++x) result.at(c, y, x) = value(c, y, x);
    }
  }
  return result;
}

double bilinear(const Image& image, std::int64_t c, double y, double x) {
  const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
  const double down = y - std::floor(y), right = x - std::floor(x);
  return (1 - down) * ((1 - right) * image(c, top, left) + right * image(c, top, left + 1)) +
         down * ((1 - right) * image(c, top + 1, left) + right * image(c, top + 1, left + 1));
}

Image expected(const A::None&, const Image& image) { return image; }

Image expected(const A::Color& color, Image image) {
  for (double& value : image.values) value += color.brightness;
  const Image bright = image;
  image = made_of(bright, [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    double mean = 0;
    for (std::int64_t k = 0; k < bright.channels; ++k) mean += bright(k, y, x) / double(bright.channels);
    return mean + color.saturation * (bright(c, y, x) - mean);
  });
  double mean = 0;
  for (const double value : image.values) mean += value / double(image.values.size());
  for (double& value : image.values) value = mean + color.contrast * (value - mean);
  return image;
}

Image expected(const A::Crop& crop, const Image& image) {
  const auto shift = [](double position, std::int64_t size) {
    const double largest = std::floor(double(size) / 8 + 0.5);
    return std::int64_t(std::floor(position * (2 * largest + 1)) - largest);
  };
  const std::int64_t down = shift(crop.row, image.height), right = shift(crop.column, image.width);
  return made_of(
      image, [&](std::int64_t c, std::int64_t y, std::int64_t x) { return image(c, y + down, x + right); });
}

Image expected(const A::Cutout& cutout, const Image& image) {
  // An even side has its centre on one of the size + 1 lines between pixels, an odd one within a pixel.
  const auto is_cut = [](double position, std::int64_t size, std::int64_t pixel) {
    const std::int64_t side = (size + 1) / 2;
    const auto centre = std::int64_t(std::floor(position * double(side % 2 == 0 ? size + 1 : size)));
    return side % 2 == 0 ? pixel >= centre - side / 2 && pixel < centre + side / 2
                         : std::abs(pixel - centre) <= side / 2;
  };
  return made_of(image, [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    return is_cut(cutout.row, image.height, y) && is_cut(cutout.column, image.width, x) ? 0 : image(c, y, x);
  });
}

Image expected(const A::Flip& flip, const Image& image) {
  return made_of(image, [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    return image(c, y, flip.flipped ? image.width - 1 - x : x);
  });
}

Image expected(const A::Scale& scale, const Image& image) {
  const double middle_y = double(image.height - 1) / 2, middle_x = double(image.width - 1) / 2;
  return made_of(image, [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    return bilinear(image, c, middle_y + scale.height * (double(y) - middle_y),
                    middle_x + scale.width * (double(x) - middle_x));
  });
}

Image expected(const A::Rotate& rotate, const Image& image) {
  const double middle_y = double(image.height - 1) / 2, middle_x = double(image.width - 1) / 2;
  const double cosine = std::cos(rotate.degrees * std::numbers::pi / 180),
               sine = std::sin(rotate.degrees * std::numbers::pi / 180);
  return made_of(image, [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    const double right = double(x) - middle_x, down = double(y) - middle_y;
    return bilinear(image, c, middle_y + sine * right + cosine * down,
                    middle_x + cosine * right - sine * down);
  });
}

Tensor expected(const A& augmentation, const Tensor& images) {
  std::vector<Tensor> results;
  for (const Tensor& image : images.unbind()) {
    results.push_back(
        std::visit([&](const auto& operation) { return expected(operation, Image(image)).tensor(); },
                   augmentation.operation()));
  }
  return torch::stack(results);
}

Tensor random_images(std::int64_t count, const std::vector<std::int64_t>& shape, std::uint64_t seed = 1) {
  Stream stream({.seed = seed});
  return normal(stream, {count, shape[0], shape[1], shape[2]});
}

// Every operation, with numbers that are nothing special.
const std::vector<A>& examples() {
  static const std::vector<A> kExamples{
      A(A::Color{0.3, 1.7, 0.6}), A(A::Crop{0.9, 0.05}),  A(A::Cutout{0.2, 0.7}), A(A::Flip{true}),
      A(A::Flip{false}),          A(A::Scale{0.9, 1.15}), A(A::Rotate{-11}),      A()};
  return kExamples;
}

TEST(Augmentation, AgreesWithPlainLoops) {
  Stream stream({.seed = 2});
  for (const auto& shape : kShapes) {
    std::map<std::size_t, int> drawn;
    const Tensor images = random_images(2, shape);
    for (int i = 0; i < 100; ++i) {
      const A augmentation = A::draw(kAll, stream);
      SCOPED_TRACE(augmentation.describe());
      ++drawn[augmentation.operation().index()];
      const Tensor loops = expected(augmentation, images);
      EXPECT_LE(largest_difference(augmentation(images), loops), 1e-13);
      const Tensor single = augmentation(images.to(torch::kFloat32));
      EXPECT_EQ(single.scalar_type(), torch::kFloat32);
      EXPECT_LE(largest_difference(single, loops), 2e-5);
    }
    EXPECT_EQ(drawn.size(), 6U);
  }
}

TEST(Augmentation, AgreesWithPlainLoopsAtEveryPosition) {
  for (const auto& shape : kShapes) {
    const Tensor images = random_images(1, shape);
    for (double row = 0; row < 1; row += 1.0 / 16) {
      for (const double column : {0.0, 0.3, 0.5, std::nextafter(1.0, 0.0)}) {
        for (const A& augmentation : {A(A::Crop{row, column}), A(A::Cutout{row, column})}) {
          EXPECT_TRUE(torch::equal(augmentation(images), expected(augmentation, images)))
              << augmentation.describe();
        }
      }
    }
  }
}

TEST(Augmentation, TurnsAnticlockwise) {
  const Tensor images = random_images(2, {3, 5, 5});
  EXPECT_LE(largest_difference(A(A::Rotate{90})(images), torch::rot90(images, 1, {2, 3})), 1e-14);
  EXPECT_LE(largest_difference(A(A::Rotate{-180})(images), torch::rot90(images, 2, {2, 3})), 1e-14);
}

// A vertical bar as wide as high stays so in an image that is twice as wide.
TEST(Augmentation, TurnsWithoutShearing) {
  Tensor images = torch::zeros({1, 1, 5, 11}, torch::kFloat64), turned = images.clone();
  images.select(3, 5).fill_(1);
  turned.narrow(3, 3, 5).select(2, 2).fill_(1);
  EXPECT_LE(largest_difference(A(A::Rotate{90})(images), turned), 1e-14);
}

TEST(Augmentation, MagnifiesBelowOne) {
  // Every second pixel's distance from the centre: 0 1 2 3 4 -> 1, 1.5, 2, 2.5, 3.
  const Tensor ramp = torch::arange(5, torch::kFloat64).expand({1, 1, 3, 5}).contiguous();
  const Tensor magnified = torch::tensor({1.0, 1.5, 2.0, 2.5, 3.0}, torch::kFloat64).expand({1, 1, 3, 5});
  EXPECT_LE(largest_difference(A(A::Scale{0.5, 1})(ramp), magnified), 1e-14);
  const Tensor upright = ramp.transpose(2, 3).contiguous();
  EXPECT_LE(largest_difference(A(A::Scale{1, 0.5})(upright), magnified.transpose(2, 3)), 1e-14);
}

TEST(Augmentation, ShiftsByUpToAnEighth) {
  const Tensor images = random_images(1, {1, 16, 8});
  const Tensor far = A(A::Crop{0, 0.99})(images);  // up by 2 of 16 rows, right by 1 of 8 columns
  EXPECT_TRUE(torch::equal(far.narrow(2, 2, 14).narrow(3, 0, 7), images.narrow(2, 0, 14).narrow(3, 1, 7)));
  EXPECT_EQ(far.narrow(2, 0, 2).abs().max().item<double>(), 0);
  EXPECT_EQ(far.narrow(3, 7, 1).abs().max().item<double>(), 0);
  EXPECT_TRUE(torch::equal(A(A::Crop{0.5, 0.5})(images), images));
}

TEST(Augmentation, CutsOutAQuarterOfAnImageAtMost) {
  const Tensor images = torch::ones({1, 3, 8, 12}, torch::kFloat64);
  EXPECT_EQ(A(A::Cutout{0.5, 0.5})(images).sum().item<double>(), 3 * (8 * 12 - 4 * 6));
  EXPECT_EQ(A(A::Cutout{0, 0})(images).sum().item<double>(), 3 * (8 * 12 - 2 * 3));
  EXPECT_EQ(A(A::Cutout{0.99, 0.99})(images).sum().item<double>(), 3 * (8 * 12 - 2 * 3));
}

// Colours of grey images have no saturation, whatever its factor.
TEST(Augmentation, LeavesTheSaturationOfGreyImagesAlone) {
  const Tensor images = random_images(2, {1, 6, 5});
  EXPECT_TRUE(torch::equal(A(A::Color{0.25, 0, 1.25})(images), A(A::Color{0.25, 2, 1.25})(images)));
}

// A linear functional of an operation that is affine in the images: central differences are exact.
TEST(Augmentation, HasTrueGradients) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{1, 6, 5}, {3, 5, 8}}) {
    const Tensor images = random_images(2, shape), direction = random_images(2, shape, 7);
    for (const A& augmentation : examples()) {
      SCOPED_TRACE(augmentation.describe());
      const Tensor leaf = images.clone().requires_grad_();
      const Tensor slope = torch::autograd::grad({(augmentation(leaf) * direction).sum()}, {leaf}).front();
      const Tensor differences = central_differences(
          images, [&] { return (augmentation(images) * direction).sum().item<double>(); });
      EXPECT_GT(slope.abs().max().item<double>(), 0.1);
      EXPECT_LE(largest_difference(slope, differences), 1e-8);
    }
  }
}

// The same without a graph, even where gradients are switched off.
TEST(Augmentation, PullsSlopesBack) {
  const torch::NoGradGuard off;
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{1, 6, 5}, {3, 5, 8}}) {
    const Tensor images = random_images(2, shape), direction = random_images(2, shape, 7);
    for (const A& augmentation : examples()) {
      SCOPED_TRACE(augmentation.describe());
      const Tensor slope = augmentation.pull_back(images, direction);
      const Tensor differences = central_differences(
          images, [&] { return (augmentation(images) * direction).sum().item<double>(); });
      EXPECT_LE(largest_difference(slope, differences), 1e-8);
      EXPECT_FALSE(slope.requires_grad());
      EXPECT_FALSE(images.requires_grad());
    }
  }
}

TEST(Augmentation, MakesNoGraphThatNobodyAsksFor) {
  const Tensor images = random_images(2, {3, 6, 5});
  for (const A& augmentation : examples()) {
    EXPECT_FALSE(augmentation(images).requires_grad()) << augmentation.describe();
    EXPECT_TRUE(augmentation(images.clone().requires_grad_()).requires_grad()) << augmentation.describe();
  }
}

void expect_independence(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  const Tensor images = random_images(5, shape).to(type);
  for (const A& augmentation : examples()) {
    SCOPED_TRACE(augmentation.describe());
    const Tensor together = augmentation(images);
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_TRUE(torch::equal(augmentation(images.narrow(0, i, 1)), together.narrow(0, i, 1)));
    }
  }
}

TEST(Augmentation, DoesToAnImageWhatItDoesToItAlone) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    expect_independence({3, 32, 32}, type);
    expect_independence({1, 28, 28}, type);
  }
}

// LibTorch cuts the sum of one such image in two.
TEST(Augmentation, DoesToALargeImageWhatItDoesToItAloneOnSeveralThreads) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  expect_independence({3, 120, 130}, torch::kFloat32);
  at::set_num_threads(before);
}

TEST(Augmentation, ChangesRealAndSyntheticImagesAlike) {
  Stream stream({.seed = 3});
  const Tensor real = random_images(7, {3, 9, 8}), synthetic = random_images(2, {3, 9, 8}, 4);
  for (int i = 0; i < 50; ++i) {
    const A augmentation = A::draw(kAll, stream);
    const Tensor together = augmentation(torch::cat({real, synthetic}));
    EXPECT_TRUE(torch::equal(augmentation(real), together.narrow(0, 0, 7)));
    EXPECT_TRUE(torch::equal(augmentation(synthetic.clone().requires_grad_()), together.narrow(0, 7, 2)));
  }
}

TEST(Augmentation, LeavesItsInputAlone) {
  const Tensor images = random_images(2, {3, 6, 5}), before = images.clone();
  for (const A& augmentation : examples()) {
    const Tensor result = augmentation(images);
    EXPECT_EQ(result.sizes(), images.sizes());
    EXPECT_TRUE(torch::equal(images, before)) << augmentation.describe();
  }
}

TEST(Augmentation, ReturnsTheTensorItselfWhenNothingIsToBeDone) {
  const Tensor images = random_images(2, {3, 6, 5});
  EXPECT_TRUE(A()(images).is_same(images));
  EXPECT_TRUE(A(A::Flip{false})(images).is_same(images));
  const Tensor rows = torch::ones({4, 2});
  EXPECT_TRUE(A()(rows).is_same(rows));
}

TEST(Augmentation, WorksOnNoImages) {
  for (const A& augmentation : examples()) {
    EXPECT_EQ(augmentation(torch::zeros({0, 3, 6, 5})).sizes().vec(),
              (std::vector<std::int64_t>{0, 3, 6, 5}));
  }
}

TEST(Augmentation, WorksOnSinglePixels) {
  for (const A& augmentation : examples()) {
    const Tensor images = random_images(2, {3, 1, 1});
    EXPECT_LE(largest_difference(augmentation(images), expected(augmentation, images)), 1e-14);
  }
}

TEST(Augmentation, RefusesWhatIsNoBatchOfImages) { EXPECT_THROW(A(A::Rotate{3})(torch::zeros({4, 2})), Bug); }

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
      {kAll, {color, crop, cutout, flip, scale, rotate}},
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

// sqrt(n) times the largest distance between the distribution of a sample and the uniform one on [0, 1].
double kolmogorov_of_uniform(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const auto count = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    distance = std::max({distance, double(i + 1) / count - sample[i], sample[i] - double(i) / count});
  }
  return std::sqrt(count) * distance;
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

TEST(Augmentation, DescribesItself) {
  EXPECT_EQ(A().describe(), "none");
  EXPECT_EQ(A(A::Color{0.31, 1.7, 0.6}).describe(),
            "color: brightness +0.31, saturation x 1.7, contrast x 0.6");
  EXPECT_EQ(A(A::Crop{0.9, 0.05}).describe(), "crop at (0.90, 0.05) of the shifts");
  EXPECT_EQ(A(A::Cutout{0.25, 0.7}).describe(), "cutout around (0.25, 0.70) of the image");
  EXPECT_EQ(A(A::Flip{true}).describe(), "flip");
  EXPECT_EQ(A(A::Flip{false}).describe(), "flip: not this time");
  EXPECT_EQ(A(A::Scale{0.9, 1.15}).describe(), "scale: show 0.9 of the width, 1.15 of the height");
  EXPECT_EQ(A(A::Rotate{-3.14}).describe(), "rotate by -3.1 degrees");
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
  for (const char* strategy : {"none", "color", "rotate_flip", kAll.c_str()}) {
    EXPECT_NO_THROW(A::validate(strategy)) << strategy;
  }
}

TEST(AugmentationStrategy, IsComplainedAboutWithWhatIsAllowed) {
  const std::string allowed = "none, or some of color, crop, cutout, flip, scale, rotate, joined by \"_\"";
  const Complaint misspelt = complaint_about("color_crop_cutuot");
  EXPECT_EQ(misspelt.found, "\"cutuot\" in \"color_crop_cutuot\" is no augmentation");
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
