#pragma once

#include <string>
#include <variant>

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/stream.hpp"

namespace fedarena {

/// One draw of differentiable siamese augmentation (Zhao and Bilen, "Dataset condensation with differentiable
/// siamese augmentation", ICML 2021): an operation and its numbers, the same for every image that it is
/// applied to, so that a real and a synthetic batch are changed alike. A value; differentiable in the images;
/// what it does to an image depends on no other image of the batch. Pixels from outside are 0, the mean of
/// normalised images. Differs from the paper: rotations keep angles in images that are not square, too.
class FEDARENA_API Augmentation {
 public:
  struct None {
    bool operator==(const None&) const = default;
  };
  /// Three changes, one after the other.
  struct Color {
    double brightness;  ///< is added; uniform from -0.5 to 0.5
    double saturation;  ///< scales what a pixel's channels differ from their mean by; uniform from 0 to 2
    double contrast;    ///< scales what an image's numbers differ from their mean by; uniform from 0.5 to 1.5
    bool operator==(const Color&) const = default;
  };
  /// Shifts by up to 1/8 of the height and of the width, rounded to pixels.
  struct Crop {
    double row, column;  ///< position among the possible shifts; uniform in [0, 1)
    bool operator==(const Crop&) const = default;
  };
  /// Sets a rectangle of half the height and half the width to 0, as far as it lies within the image.
  struct Cutout {
    double row, column;  ///< position of its centre in the image; uniform in [0, 1)
    bool operator==(const Cutout&) const = default;
  };
  /// Swaps left and right, or does nothing; drawn with equal probability.
  struct Flip {
    bool flipped;
    bool operator==(const Flip&) const = default;
  };
  /// Shows that multiple of the image's width and height around its centre, bilinearly: below 1 magnifies.
  struct Scale {
    double width, height;  ///< uniform from 1/1.2 to 1.2
    bool operator==(const Scale&) const = default;
  };
  /// Turns around the image's centre, bilinearly.
  struct Rotate {
    double degrees;  ///< anticlockwise; uniform from -15 to 15
    bool operator==(const Rotate&) const = default;
  };
  using Operation = std::variant<None, Color, Crop, Cutout, Flip, Scale, Rotate>;

  /// Changes nothing.
  Augmentation() = default;
  explicit Augmentation(const Operation& operation) : operation_(operation) {}
  /// Draws one operation of `strategy`, all alike, and its numbers. A strategy is "none", which draws
  /// nothing, or names joined by "_" out of color, crop, cutout, flip, scale, rotate; Error for another one.
  static Augmentation draw(const std::string& strategy, Stream& stream);
  /// Throws the Error of `draw` for a strategy that is none.
  static void validate(const std::string& strategy);

  /// Images [n, channels, height, width], float32 or float64 on any device, to images of the same kind; the
  /// tensor itself when nothing is to be done.
  torch::Tensor operator()(const torch::Tensor& images) const;
  /// Gradient in `images` of the inner product of `slope` and the images that they become.
  torch::Tensor pull_back(const torch::Tensor& images, const torch::Tensor& slope) const;
  const Operation& operation() const { return operation_; }
  bool operator==(const Augmentation&) const = default;

 private:
  Operation operation_;
};

}  // namespace fedarena
