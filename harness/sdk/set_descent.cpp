#include "fedarena/set_descent.hpp"

#include <utility>

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

Schema<SetTraining> SetTraining::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return {
      {"server_epochs", &SetTraining::server_epochs, "passes of the server over the synthetic sets, at most",
       count},
      {"server_batch_size", &SetTraining::server_batch_size, "synthetic images in a batch of the union",
       count},
  };
}

SetDescent::SetDescent(std::int64_t batch_size, const Compute& compute, Batch set, Stream shuffles)
    : batch_size_(batch_size), compute_(compute), set_(std::move(set)), shuffles_(shuffles) {}

bool SetDescent::next(Params& params, const Params& start, double radius, double rate) {
  if (set_.size() == 0) return true;  // which split() would make a batch of
  const torch::Tensor order = torch::tensor(shuffles_.permutation(set_.size()), torch::kInt64);
  for (const torch::Tensor& positions : order.split(batch_size_)) {
    if (norm(params - start) >= radius) return false;
    params.add_scaled(-rate, compute_.gradient(params, set_.select(positions)));
  }
  return true;
}

}  // namespace fedarena
