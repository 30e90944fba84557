#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The hyper-parameters of servers that train on the union of the clients' sets, by SGD with momentum and
/// weight decay: derive your Config from it.
struct FEDARENA_API UnionTraining {
  double rate = 0.01;
  std::int64_t set_batch_size = 256;
  std::int64_t server_epochs = 300;
  double server_momentum = 0.9;
  double server_weight_decay = 5e-4;

  static Schema<UnionTraining> schema();
};

/// The hyper-parameters of methods that match gradients along the way of models that start anew and train on
/// the images (Zhao, Mopuri, Bilen, "Dataset condensation with gradient matching", ICLR 2021): derive your
/// Config from it. Their models train at the server's rate and in its batches.
struct FEDARENA_API Condensation : UnionTraining {
  std::int64_t initialisations = 1000;  // K
  std::int64_t outer_steps = 50;        // T
  std::int64_t model_epochs = 10;
  double momentum = 0;

  static Schema<Condensation> schema();
};

/// Calls `match` with the weights at each of `outer_steps` points on the way of each of `initialisations`
/// models; it moves the images of `set`, which are not none, and ends everything by answering false. From
/// point to point the model goes `model_epochs` times through the set, augmented. Draws from kSynthetic,
/// streams 1 (weights), 4 and 5.
FEDARENA_API void condense(const Condensation& config, const std::string& augmentation, Client& client,
                           const Batch& set, const std::function<bool(const Params& model)>& match);

/// Keeps the set as `server.synthetic` and trains the global model on it, augmented: `server_epochs` passes,
/// the second half at a tenth of the rate. The set is not empty. Draws from kSynthetic, streams 0 and 1.
FEDARENA_API void train_on_set(const UnionTraining& config, const std::string& augmentation, Server& server,
                               Batch set);

/// The same on the union of the cohort's sets; nothing where all are empty.
FEDARENA_API void train_on_union(const UnionTraining& config, const std::string& augmentation, Server& server,
                                 const Uplink& uplink);

}  // namespace fedarena
