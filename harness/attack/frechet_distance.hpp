#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include <torch/types.h>

#include "fedarena/base/pool.hpp"
#include "fedarena/model.hpp"

#include "datasets/dataset.hpp"

namespace fedarena {

/// The Frechet distance of the Gaussians that have the means and covariances of two sets of rows, [n, d] and
/// [m, d] with n, m >= 2: ||m1 - m2||^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)) (Dowson and Landau, Journal of
/// Multivariate Analysis 12, 1982; as FID: Heusel et al., NeurIPS 2017). Covariances by n - 1.
double frechet_distance(const torch::Tensor& left, const torch::Tensor& right);

/// What distances of image sets rest on here: features of a small network that is trained for them on the
/// training examples of the data set, whoever holds them in a run. Not Inception's, so distances compare with
/// each other alone.
class ImageFeatures {
 public:
  struct Setting {
    const WorkPool& pool;
    const std::atomic<bool>& stop;  ///< set on Ctrl-C: whatever computes then throws Interrupted
    std::function<void(const std::string&)> tell = {};  ///< of the progress
  };
  /// Trains the network: the same bits for a data set, whatever the run. Error for data that are no images
  /// with classes.
  ImageFeatures(const Dataset& dataset, const Setting& setting);

  /// Of `images`, [n, channels, height, width] in pixel units, 0 to 1; what lies outside is clipped: [n, d].
  torch::Tensor of_images(const torch::Tensor& images) const;
  /// Of so many examples of the data set at random, the same for the same count.
  torch::Tensor of_some(const Examples& examples, std::int64_t count) const;
  /// Of images of independent, uniform pixels.
  torch::Tensor of_noise(std::int64_t count) const;

  /// "84 features of niid-cnn, trained for 3 epochs on 10000 training examples (97.1 % on test examples)".
  const std::string& description() const { return description_; }

 private:
  torch::Tensor features(const torch::Tensor& inputs) const;

  const Dataset& dataset_;
  Setting setting_;
  Model model_;
  Params params_;
  std::string description_;
};

}  // namespace fedarena
