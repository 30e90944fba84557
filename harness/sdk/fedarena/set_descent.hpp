#pragma once

#include <cstdint>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The hyper-parameters of methods that move synthetic images by SGD: derive your Config from it.
struct FEDARENA_API ImageTraining {
  double image_rate = 1;
  double image_momentum = 0.5;

  static Schema<ImageTraining> schema();
};

/// SGD with momentum on images, v <- momentum v + slope, as in PyTorch's SGD; starts at v = 0.
class FEDARENA_API ImageDescent {
 public:
  /// Both must outlive it.
  ImageDescent(const ImageTraining& config, torch::Tensor& images);

  /// One step; `slope` has the images' shape.
  void step(const torch::Tensor& slope);

 private:
  const ImageTraining& config_;
  torch::Tensor& images_;
  torch::Tensor velocity_;
};

/// The hyper-parameters of servers that train on synthetic sets: derive your Config from it.
struct FEDARENA_API SetTraining {
  std::int64_t server_epochs = 100;
  std::int64_t server_batch_size = 512;

  static Schema<SetTraining> schema();
};

/// SGD on a set that is not empty, epoch by epoch, each in batches of an order of its own.
class FEDARENA_API SetDescent {
 public:
  /// `compute` must outlive it.
  SetDescent(std::int64_t batch_size, const Compute& compute, Batch set, Stream shuffles);

  /// One pass over the set: steps of that rate from `params`, each only while `params` is nearer to `start`
  /// than the radius. False when it is not any more.
  bool next(Params& params, const Params& start, double radius, double rate);

 private:
  std::int64_t batch_size_;
  const Compute& compute_;
  Batch set_;
  Stream shuffles_;
};

}  // namespace fedarena
