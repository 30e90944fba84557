#pragma once

#include <cstdint>
#include <string>

#include <fedarena/local_training.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace fedlap {

/// The hyper-parameters of FedLAP; defaults are those of the paper's run without privacy (Section 6.1 and the
/// public code). The rate is that of the model, on clients and server.
struct Config : fedarena::RateSchedule,
                fedarena::GradientMatching,
                fedarena::SyntheticSets,
                fedarena::ImageTraining,
                fedarena::SetTraining {
  Config() {
    rate = 0.1;
    image_rate = 100;
  }

  bool carry_images = false;

  // Local approximation, Algorithm 1.
  std::int64_t trajectories = 1;   // R_i
  std::int64_t outer_steps = 5;    // turns of the while loop, at most
  std::int64_t real_batches = 40;  // in each of them
  std::int64_t image_updates = 5;  // R_b, for each real batch
  std::int64_t model_steps = 0;    // R_l
  std::int64_t batch_size = 256;
  std::string augmentation = "color_crop_cutout_flip_scale_rotate";
  double radius = 10;  // r

  // Global optimisation, Algorithm 2.
  std::string server_radius = "min";
  std::string region = "loss";
  double region_bound = 1;
  std::string server_descent = "union";
  bool server_calibration = false;  // Equation 20

  static fedarena::Schema<Config> schema();
  /// Throws Error for an unknown augmentation, and for calibration without gradients set by set.
  void validate() const;

  /// Whether clients measure r_k on their examples (Figure 2).
  bool measures_regions() const {
    return server_radius == "min" || server_radius == "median" || server_radius == "max";
  }
};

/// FedLAP-DP: the paper's run with privacy. Nothing but privatised gradients depends on examples.
struct PrivateConfig : Config {
  PrivateConfig() {
    rate = 0.002;
    schedule = "cosine";
    images_per_class = 10;
    classes = "all";
    image_init = "noise";
    carry_images = true;
    trajectories = 4;
    real_batches = 10;
    model_steps = 2;
    radius = 1.5;
    server_radius = "constant";
  }

  static fedarena::Schema<PrivateConfig> schema();
};

}  // namespace fedlap
