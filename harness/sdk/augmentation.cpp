#include "fedarena/augmentation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <torch/csrc/autograd/autograd.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/overload.hpp"

namespace fedarena {
namespace {

using torch::Tensor;
using Operation = Augmentation::Operation;

// The published strengths.
constexpr double kBrightness = 1.0;
constexpr double kSaturation = 2.0;
constexpr double kLeastContrast = 0.5;
constexpr double kCropShare = 0.125;
constexpr double kCutoutShare = 0.5;
constexpr double kFlipProbability = 0.5;
constexpr double kLargestScale = 1.2;
constexpr double kLargestAngle = 15;

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames{"color", "crop", "cutout", "flip", "scale", "rotate"};
  return kNames;
}

double between(Stream& stream, double low, double high) { return low + (high - low) * stream.uniform(); }

// Braces keep the order of the draws.
Operation draw_operation(const std::string& name, Stream& stream) {
  if (name == "color") {
    return Augmentation::Color{between(stream, -kBrightness / 2, kBrightness / 2),
                               between(stream, 0, kSaturation),
                               between(stream, kLeastContrast, kLeastContrast + 1)};
  }
  if (name == "crop") return Augmentation::Crop{stream.uniform(), stream.uniform()};
  if (name == "cutout") return Augmentation::Cutout{stream.uniform(), stream.uniform()};
  if (name == "flip") return Augmentation::Flip{stream.uniform() < kFlipProbability};
  if (name == "scale") {
    return Augmentation::Scale{between(stream, 1 / kLargestScale, kLargestScale),
                               between(stream, 1 / kLargestScale, kLargestScale)};
  }
  FEDARENA_CHECK(name, ==, "rotate");
  return Augmentation::Rotate{between(stream, -kLargestAngle, kLargestAngle)};
}

[[noreturn]] void refuse(const std::string& name, const std::string& strategy) {
  std::vector<std::string> known = names();
  const std::string allowed = fmt::format("none, or some of {}, joined by \"_\"", join_names(known));
  if (strategy.empty()) throw Error(Complaint{.found = "the augmentation is empty", .allowed = allowed});
  known.emplace_back("none");
  throw Error(Complaint{.found = fmt::format("\"{}\" in \"{}\" is not an augmentation", name, strategy),
                        .allowed = allowed,
                        .nearest = nearest_name(name, known)});
}

// The operations that a strategy names; empty for "none".
std::vector<std::string> parse(const std::string& strategy) {
  std::vector<std::string> found;
  if (strategy == "none") return found;
  for (std::size_t begin = 0; begin <= strategy.size();) {
    const std::size_t end = std::min(strategy.find('_', begin), strategy.size());
    const std::string name = strategy.substr(begin, end - begin);
    if (!contains(names(), name)) refuse(name, strategy);
    if (contains(found, name)) {
      throw Error(Complaint{.found = fmt::format("\"{}\" is in \"{}\" twice", name, strategy),
                            .remedy = "Name it once; all operations are drawn alike."});
    }
    found.push_back(name);
    begin = end + 1;
  }
  return found;
}

// A share of `size` in whole pixels.
std::int64_t pixels(double share, std::int64_t size) {
  return std::llround(share * static_cast<double>(size));
}

// The cell of `count` equal ones that a position in [0, 1) lies in.
std::int64_t cell(double position, std::int64_t count) {
  return static_cast<std::int64_t>(position * static_cast<double>(count));
}

// Mean of each image, [n, 1, 1, 1]. One dimension at a time: a full reduction of a single large image is cut
// among threads and would round otherwise than in a batch.
Tensor image_means(const Tensor& images) { return images.mean(3, true).mean(2, true).mean(1, true); }

Tensor apply(const Augmentation::Color& color, const Tensor& images) {
  const Tensor bright = images + color.brightness;
  const Tensor grey = bright.mean(1, true);
  const Tensor saturated = (bright - grey) * color.saturation + grey;
  const Tensor mean = image_means(saturated);
  return (saturated - mean) * color.contrast + mean;
}

// Where a window that moved by a random number of pixels begins.
std::int64_t shift(double position, std::int64_t size) {
  const std::int64_t largest = pixels(kCropShare, size);
  return cell(position, 2 * largest + 1) - largest;
}

Tensor apply(const Augmentation::Crop& crop, const Tensor& images) {
  const std::int64_t down = shift(crop.row, images.size(2)), right = shift(crop.column, images.size(3));
  return torch::constant_pad_nd(images, {-right, right, -down, down});  // negative padding cuts off
}

// The part of [0, size) that a cutout takes: an even side is centred between pixels, at either border too.
Tensor cut(const Tensor& mask, std::int64_t dimension, double position) {
  const std::int64_t size = mask.size(dimension), side = pixels(kCutoutShare, size);
  const std::int64_t begin = cell(position, size + 1 - side % 2) - side / 2;
  return mask.slice(dimension, std::max<std::int64_t>(begin, 0), std::min(begin + side, size));
}

Tensor apply(const Augmentation::Cutout& cutout, const Tensor& images) {
  const Tensor mask = torch::ones({images.size(2), images.size(3)}, images.options());
  cut(cut(mask, 0, cutout.row), 1, cutout.column).zero_();
  return images * mask;
}

Tensor apply(const Augmentation::Flip& flip, const Tensor& images) {
  return flip.flipped ? images.flip(3) : images;
}

// Shows what a linear map of the plane finds: the pixel at (x, y) from the centre becomes that at
// (xx * x + xy * y, yx * x + yy * y), in pixels, y downwards.
Tensor resample(const Tensor& images, double xx, double xy, double yx, double yy) {
  // On a GPU, LibTorch sums the derivative in no fixed order, and so refuses it.
  if (images.is_cuda() && images.requires_grad())
    return resample(images.to(torch::kCPU), xx, xy, yx, yy).to(images.device());
  const std::int64_t height = images.size(2), width = images.size(3);
  const double aspect = static_cast<double>(height) / static_cast<double>(width);
  // The grid's unit is half an image, which is another length in x than in y.
  const Tensor map = torch::tensor({xx, xy * aspect, 0.0, yx / aspect, yy, 0.0}, torch::kFloat64);
  // One grid for all, so that it cannot depend on how many images there are.
  const Tensor grid = torch::affine_grid_generator(map.view({1, 2, 3}).to(images.options()),
                                                   {1, images.size(1), height, width}, false);
  constexpr std::int64_t kBilinear = 0, kZeros = 0;
  return torch::grid_sampler(images, grid.expand({images.size(0), -1, -1, -1}), kBilinear, kZeros, false);
}

Tensor apply(const Augmentation::Scale& scale, const Tensor& images) {
  return resample(images, scale.width, 0, 0, scale.height);
}

Tensor apply(const Augmentation::Rotate& rotate, const Tensor& images) {
  const double angle = rotate.degrees * std::numbers::pi / 180;
  return resample(images, std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle));
}

}  // namespace

Augmentation Augmentation::draw(const std::string& strategy, Stream& stream) {
  const std::vector<std::string> operations = parse(strategy);
  if (operations.empty()) return {};
  return Augmentation(draw_operation(operations[stream.below(operations.size())], stream));
}

void Augmentation::validate(const std::string& strategy) { (void)parse(strategy); }

Tensor Augmentation::operator()(const Tensor& images) const {
  return std::visit(Overload{[&](const None&) { return images; },
                             [&](const auto& operation) {
                               FEDARENA_CHECK(images.dim(), ==, 4);
                               return apply(operation, images);
                             }},
                    operation_);
}

torch::Tensor Augmentation::pull_back(const torch::Tensor& images, const torch::Tensor& slope) const {
  if (std::holds_alternative<None>(operation_)) return slope;
  const torch::AutoGradMode enabled(true);
  const torch::Tensor source = images.detach().requires_grad_();
  return torch::autograd::grad({(*this)(source)}, {source}, {slope})[0];
}

}  // namespace fedarena
