#pragma once

#include <cstdint>
#include <string>

#include <fedarena/class_batches.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/image_descent.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace fedgm {

/// The hyper-parameters of FedGM. For where the defaults come from, see fedgm.cpp.
struct Config : fedarena::GradientMatching,
                fedarena::SyntheticSets,
                fedarena::ImageTraining,
                fedarena::ClassMatching,
                fedarena::Condensation {
  Config() {
    criterion = "cosine";
    image_encoding = "uint8";
    image_rate = 0.01;
    image_momentum = 0;
    batch_size = 128;
    initialisations = 300;
    outer_steps = 100;
    model_epochs = 1;
  }

  std::string real_images = "representative";
  std::int64_t cluster_every = 10;
  double label_epsilon = 0;

  static fedarena::Schema<Config> schema();
};

}  // namespace fedgm
