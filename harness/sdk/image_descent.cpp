#include "fedarena/image_descent.hpp"

#include <ATen/ATen.h>

namespace fedarena {

Schema<ImageTraining> ImageTraining::schema() {
  return {
      {"image_rate", &ImageTraining::image_rate, "learning rate of the images", Constraint::positive()},
      {"image_momentum", &ImageTraining::image_momentum,
       "momentum of the images' SGD, which starts anew each round", Constraint::between(0, 1)},
  };
}

ImageDescent::ImageDescent(const ImageTraining& config, torch::Tensor& images)
    : config_(config), images_(images), velocity_(torch::zeros_like(images)) {}

void ImageDescent::step(const torch::Tensor& slope) {
  velocity_ = config_.image_momentum * velocity_ + slope;
  images_ = images_ - config_.image_rate * velocity_;
}

}  // namespace fedarena
