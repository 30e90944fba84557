#pragma once

#include <cstdint>
#include <vector>

#include <torch/types.h>

namespace fedarena {

/// How near an image is to an original.
struct ImageQuality {
  double mse = 0;   ///< mean of squared differences of pixels
  double psnr = 0;  ///< 10 log10(1 / mse), in dB; infinite for equal images
  double ssim = 0;  ///< structural similarity, at most 1
};

/// What counts as reconstructed.
inline constexpr double kRecognisable = 0.01;  // mse

/// Mean of the squared differences of pixels in [0, 1], to which those of `image` are clipped first.
double mean_squared_error(const torch::Tensor& image, const torch::Tensor& original);

/// Compares images [channels, height, width] in pixels; those of `image` are clipped to [0, 1] first. SSIM:
/// Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility to structural
/// similarity", IEEE TIP 2004, with K1 = 0.01, K2 = 0.03 and Gaussian windows of deviation 1.5 on 11 x 11
/// pixels (or as many as the shorter side has) that lie within the image; mean over windows and channels.
ImageQuality image_quality(const torch::Tensor& image, const torch::Tensor& original);

/// The permutation p with the least sum of cost[i][p[i]], for a square matrix of finite numbers (Kuhn and
/// Munkres' Hungarian method, O(n^3)).
std::vector<std::int64_t> best_assignment(const std::vector<std::vector<double>>& cost);

}  // namespace fedarena
