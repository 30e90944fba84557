#pragma once

#include <cstdint>

#include "fedarena/condensation.hpp"
#include "fedarena/matching.hpp"
#include "fedarena/set_descent.hpp"
#include "fedarena/synthetic_sets.hpp"

namespace fedarena {

/// The hyper-parameters of private set generation (Chen, Kerkouche, Fritz, NeurIPS 2022), with the defaults
/// of its code for 10 images a class: derive your Config from it.
struct FEDARENA_API PrivateSet : GradientMatching, SyntheticSets, ImageTraining, Condensation {
  PrivateSet();

  std::int64_t real_batches = 10;
  std::int64_t batch_size = 256;

  static Schema<PrivateSet> schema();
};

/// A client's set: images that start as configured and take a step after each private gradient, all at once.
/// Asks the oracle for initialisations * outer_steps * real_batches gradients unless the set is empty, or for
/// as many as its budget pays for; observes their number, "private-gradients".
FEDARENA_API Batch private_set(const PrivateSet& config, Client& client);

/// What private_set() asks for, which no answer changes.
FEDARENA_API AccessPlan private_set_plan(const PrivateSet& config, const Client& client);

}  // namespace fedarena
