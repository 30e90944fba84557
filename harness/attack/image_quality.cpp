#include "harness/attack/image_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

namespace fedarena {
namespace {

constexpr std::int64_t kLargestWindow = 11;
constexpr double kWindowDeviation = 1.5;
constexpr double kLuminance = 0.01 * 0.01, kContrast = 0.03 * 0.03;  // (K1 L)^2 and (K2 L)^2 for L = 1

torch::Tensor pixels_of(const torch::Tensor& image) { return image.to(torch::kFloat64).clamp(0, 1); }

// Weights [1, 1, size, size] that sum to 1.
torch::Tensor gaussian_window(std::int64_t size) {
  const torch::Tensor offset = torch::arange(size, torch::kFloat64) - static_cast<double>(size - 1) / 2;
  const torch::Tensor line = (-offset.square() / (2 * kWindowDeviation * kWindowDeviation)).exp();
  const torch::Tensor window = line.outer(line);
  return (window / window.sum()).view({1, 1, size, size});
}

double structural_similarity(const torch::Tensor& left, const torch::Tensor& right) {
  const torch::Tensor window = gaussian_window(std::min({kLargestWindow, left.size(1), left.size(2)}));
  const auto local_mean = [&](const torch::Tensor& map) {
    return torch::conv2d(map.unsqueeze(1), window);  // every channel by itself
  };
  const torch::Tensor mean_left = local_mean(left), mean_right = local_mean(right);
  const torch::Tensor variance_left = local_mean(left.square()) - mean_left.square();
  const torch::Tensor variance_right = local_mean(right.square()) - mean_right.square();
  const torch::Tensor covariance = local_mean(left * right) - mean_left * mean_right;
  const torch::Tensor similarity = (2 * mean_left * mean_right + kLuminance) * (2 * covariance + kContrast) /
                                   ((mean_left.square() + mean_right.square() + kLuminance) *
                                    (variance_left + variance_right + kContrast));
  return similarity.mean().item<double>();
}

}  // namespace

double mean_squared_error(const torch::Tensor& image, const torch::Tensor& original) {
  return (pixels_of(image) - original.to(torch::kFloat64)).square().mean().item<double>();
}

ImageQuality image_quality(const torch::Tensor& image, const torch::Tensor& original) {
  const double mse = mean_squared_error(image, original);
  return {.mse = mse,
          .psnr = -10 * std::log10(mse),
          .ssim = structural_similarity(pixels_of(image), original.to(torch::kFloat64))};
}

std::vector<std::int64_t> best_assignment(const std::vector<std::vector<double>>& cost) {
  // Rows and columns count from 1; column 0 holds the row that still looks for a column.
  const std::size_t size = cost.size();
  std::vector<double> row_price(size + 1), column_price(size + 1);
  std::vector<std::size_t> row_of(size + 1), previous(size + 1);
  for (std::size_t row = 1; row <= size; ++row) {
    std::vector<double> slack(size + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> reached(size + 1);
    std::size_t column = 0;
    row_of[0] = row;
    while (row_of[column] != 0) {
      reached[column] = true;
      std::size_t nearest = 0;
      double step = std::numeric_limits<double>::infinity();
      for (std::size_t next = 1; next <= size; ++next) {
        if (reached[next]) continue;
        const std::size_t from = row_of[column];
        const double reduced = cost[from - 1][next - 1] - row_price[from] - column_price[next];
        if (reduced < slack[next]) {
          slack[next] = reduced;
          previous[next] = column;
        }
        if (slack[next] < step) {
          step = slack[next];
          nearest = next;
        }
      }
      for (std::size_t other = 0; other <= size; ++other) {
        if (reached[other]) {
          row_price[row_of[other]] += step;
          column_price[other] -= step;
        } else {
          slack[other] -= step;
        }
      }
      column = nearest;
    }
    while (column != 0) {
      row_of[column] = row_of[previous[column]];
      column = previous[column];
    }
  }
  std::vector<std::int64_t> assigned(size);
  for (std::size_t column = 1; column <= size; ++column) {
    assigned[row_of[column] - 1] = static_cast<std::int64_t>(column) - 1;
  }
  return assigned;
}

}  // namespace fedarena
