#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The hyper-parameters of methods that match gradients along the way of models that start anew and train on
/// the images (Zhao, Mopuri, Bilen, "Dataset condensation with gradient matching", ICLR 2021): derive your
/// Config from it.
struct FEDARENA_API Condensation {
  // Condensation.
  std::int64_t initialisations = 1000;  // K
  std::int64_t outer_steps = 50;        // T
  std::int64_t model_epochs = 10;

  // Models, those of the condensation and the server's.
  double rate = 0.01;
  std::int64_t set_batch_size = 256;
  double momentum = 0;
  std::int64_t server_epochs = 300;
  double server_momentum = 0.9;
  double server_weight_decay = 5e-4;

  static Schema<Condensation> schema();
};

/// Calls `match` with the weights at each of `outer_steps` points on the way of each of `initialisations`
/// models; it moves the images of `set`, which are not none. From point to point the model goes
/// `model_epochs` times through the set, augmented. Draws from kSynthetic, streams 1 (weights), 4 and 5.
FEDARENA_API void condense(const Condensation& config, const std::string& augmentation, Client& client,
                           const Batch& set, const std::function<void(const Params& model)>& match);

/// Keeps the union of the cohort's sets as `server.synthetic` and trains the global model on it, augmented:
/// `server_epochs` passes, the second half at a tenth of the rate; nothing where all sets are empty. Draws
/// from kSynthetic, streams 0 and 1.
FEDARENA_API void train_on_union(const Condensation& config, const std::string& augmentation, Server& server,
                                 const Uplink& uplink);

}  // namespace fedarena
