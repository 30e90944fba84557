#pragma once

#include <string>

#include <fedarena/algorithm.hpp>

namespace dsc {

/// How a model trains on a set.
struct Training {
  std::int64_t batch_size;
  double momentum;
  double weight_decay;
  std::string augmentation;
};

/// SGD on a set that is not empty, in shuffled and augmented batches, with momentum v <- momentum v + g and
/// weight decay added to the gradient, as in PyTorch's SGD; starts at v = 0.
class SetTrainer {
 public:
  /// `compute` and the streams must outlive it.
  SetTrainer(Training how, const fedarena::Compute& compute, fedarena::Stream& shuffles,
             fedarena::Stream& augmentations);

  /// One pass over the set.
  void epoch(fedarena::Params& params, const fedarena::Batch& set, double rate);

 private:
  Training how_;
  const fedarena::Compute& compute_;
  fedarena::Stream& shuffles_;
  fedarena::Stream& augmentations_;
  fedarena::Params velocity_;
};

}  // namespace dsc
