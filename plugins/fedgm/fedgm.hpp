#pragma once

#include <cstdint>
#include <string>

#include <fedarena/class_batches.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/features.hpp>
#include <fedarena/matching.hpp>
#include <fedarena/set_descent.hpp>
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

/// A client's condensed set: images of each of its classes whose gradients match those of its examples along
/// the way of models that start anew. An exact access. The client observes the distance as "matching-loss"
/// and, for each tenth of the models, as "matching-loss-1" to "matching-loss-10". Error when examples are to
/// be clustered and the model does not end in an affine map.
fedarena::Batch condensed_set(const Config& config, fedarena::Client& client);

}  // namespace fedgm
