#pragma once

#include <cstdint>

#include <fedarena/algorithm.hpp>
#include <fedarena/condensation.hpp>
#include <fedarena/synthetic_sets.hpp>

namespace fedd3 {

/// The hyper-parameters of FedD3. For where the defaults come from, see fedd3.cpp.
struct Config : fedarena::SyntheticSets, fedarena::UnionTraining {
  Config() { images_per_class = 10; }

  std::int64_t iterations = 2000;
  double adam_rate = 4e-3;
  std::int64_t target_size = 5000;
  double stop_accuracy = 0.995;
  double ridge = 1e-6;
};

/// Moves the images of `set`, which are not none, so that kernel ridge regression on them predicts the
/// client's examples; nothing where it has none. An exact access. The client observes "kernel-loss" at each
/// step.
void induce(const Config& config, fedarena::Client& client, fedarena::Batch& set);

}  // namespace fedd3
