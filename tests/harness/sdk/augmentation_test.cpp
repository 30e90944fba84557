// What each operation does to images.
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
#include "fedarena/random.hpp"

#include "tests/harness/sdk/finite_differences.hpp"

namespace fedarena {
namespace {

using torch::Tensor;
using A = Augmentation;

const std::string kEveryOperation = "color_crop_cutout_flip_scale_rotate";
const std::vector<std::vector<std::int64_t>> kShapes{{1, 8, 8}, {3, 6, 9}, {3, 7, 4},
                                                     {1, 5, 3}, {3, 1, 1}, {3, 32, 32}};

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
      const A augmentation = A::draw(kEveryOperation, stream);
      SCOPED_TRACE(augmentation.operation().index());
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
              << augmentation.operation().index();
        }
      }
    }
  }
}

// Colours of grey images have no saturation, whatever its factor.
TEST(Augmentation, LeavesTheSaturationOfGreyImagesAlone) {
  const Tensor images = random_images(2, {1, 6, 5});
  EXPECT_TRUE(torch::equal(A(A::Color{0.25, 0, 1.25})(images), A(A::Color{0.25, 2, 1.25})(images)));
}

// A linear functional of an operation that is affine in the images: central differences are exact.
void expect_slopes(
    const std::function<Tensor(const A&, const Tensor& images, const Tensor& direction)>& slope_of) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{1, 6, 5}, {3, 5, 8}}) {
    const Tensor images = random_images(2, shape), direction = random_images(2, shape, 7);
    for (const A& augmentation : examples()) {
      SCOPED_TRACE(augmentation.operation().index());
      const Tensor slope = slope_of(augmentation, images, direction);
      const Tensor differences = central_differences(
          images, [&] { return (augmentation(images) * direction).sum().item<double>(); });
      EXPECT_GT(slope.abs().max().item<double>(), 0.1);
      EXPECT_LE(largest_difference(slope, differences), 1e-8);
      EXPECT_FALSE(slope.requires_grad());
      EXPECT_FALSE(images.requires_grad());
    }
  }
}

TEST(Augmentation, HasTrueGradients) {
  expect_slopes([](const A& augmentation, const Tensor& images, const Tensor& direction) {
    const Tensor leaf = images.clone().requires_grad_();
    return torch::autograd::grad({(augmentation(leaf) * direction).sum()}, {leaf}).front();
  });
}

// The same without a graph, even where gradients are switched off.
TEST(Augmentation, PullsSlopesBack) {
  const torch::NoGradGuard off;
  expect_slopes([](const A& augmentation, const Tensor& images, const Tensor& direction) {
    return augmentation.pull_back(images, direction);
  });
}

TEST(Augmentation, MakesNoGraphThatNobodyAsksFor) {
  const Tensor images = random_images(2, {3, 6, 5});
  for (const A& augmentation : examples()) {
    EXPECT_FALSE(augmentation(images).requires_grad()) << augmentation.operation().index();
    EXPECT_TRUE(augmentation(images.clone().requires_grad_()).requires_grad())
        << augmentation.operation().index();
  }
}

void expect_independence(const std::vector<std::int64_t>& shape, torch::ScalarType type) {
  const Tensor images = random_images(5, shape).to(type);
  for (const A& augmentation : examples()) {
    SCOPED_TRACE(augmentation.operation().index());
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
    const A augmentation = A::draw(kEveryOperation, stream);
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
    EXPECT_TRUE(torch::equal(images, before)) << augmentation.operation().index();
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

TEST(Augmentation, RefusesWhatIsNoBatchOfImages) { EXPECT_THROW(A(A::Rotate{3})(torch::zeros({4, 2})), Bug); }

}  // namespace
}  // namespace fedarena
