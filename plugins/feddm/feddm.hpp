#pragma once

#include <cstdint>
#include <string>

#include <fedarena/class_batches.hpp>
#include <fedarena/local_training.hpp>
#include <fedarena/set_descent.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace feddm {

/// The hyper-parameters of FedDM. The rate is that of the server's model. For where the defaults come from,
/// see feddm.cpp.
struct Config : fedarena::RateSchedule,
                fedarena::SyntheticSets,
                fedarena::ImageTraining,
                fedarena::ClassMatching,
                fedarena::SetTraining {
  Config() {
    rate = 0.01;
    images_per_class = 10;
    server_epochs = 500;
    server_batch_size = 256;
  }

  double rho = 5;
  std::int64_t iterations = 1000;
  std::string class_means = "examples";
  double feature_bound = 10;

  bool votes() const { return class_means == "votes"; }

  static fedarena::Schema<Config> schema();
  /// Throws Error for an unknown augmentation, and for one of features that votes have summed up.
  void validate() const;
};

/// Moves the images of `set`, which are not none, so that class by class their mean features and mean logits
/// agree with those of the client's examples, at weights near `start`. An exact access. Error when the model
/// does not end in an affine map, whose inputs the features are.
void match_distributions(const Config& config, fedarena::Client& client, const fedarena::Params& start,
                         fedarena::Batch& set);

}  // namespace feddm
