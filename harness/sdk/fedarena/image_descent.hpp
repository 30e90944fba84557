#pragma once

#include <torch/types.h>

#include "fedarena/base/export.hpp"
#include "fedarena/base/schema.hpp"

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

}  // namespace fedarena
