#pragma once

#include <cstdint>

#include <fedarena/class_batches.hpp>
#include <fedarena/image_descent.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace dsc {

/// The hyper-parameters of dataset condensation. For where the defaults come from, see dsc.cpp.
struct Config : fedarena::GradientMatching,
                fedarena::SyntheticSets,
                fedarena::ImageTraining,
                fedarena::ClassMatching {
  Config() {
    criterion = "cosine";
    image_rate = 0.1;
    augmentation = "color_crop_cutout_flip_scale_rotate";
  }

  // Condensation.
  std::int64_t initialisations = 1000;  // K
  std::int64_t outer_steps = 50;        // T
  std::int64_t model_epochs = 10;

  // Models, those of the condensation and the server's.
  double rate = 0.01;
  std::int64_t set_batch_size = 256;
  double momentum = 0.5;
  std::int64_t server_epochs = 1000;
  double server_momentum = 0.9;
  double server_weight_decay = 5e-4;

  static fedarena::Schema<Config> schema();
};

}  // namespace dsc
