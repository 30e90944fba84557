#pragma once

#include <cstdint>
#include <memory>

#include <fedarena/algorithm.hpp>
#include <fedarena/distillation.hpp>

namespace dense {

/// How images are made that teach.
struct Synthesis {
  std::int64_t generator_steps = 30;
  double generator_rate = 1e-3;
  std::int64_t generator_width = 64;
  std::int64_t noise_size = 256;
  std::int64_t synthetic_batch_size = 256;
  double label_weight = 1;
  double adversarial_weight = 1;

  static fedarena::Schema<Synthesis> schema();
};

/// Images, the classes that the generator was asked for, and what the objective came to.
struct Synthetic {
  fedarena::Batch images;
  double objective = 0;
};

/// A network that makes images of noise, of the shape of the model's inputs.
class Generator {
 public:
  /// Error when the model's inputs are not images whose sides are multiples of 4. Both must outlive it.
  Generator(const Synthesis& config, const fedarena::Server& server);

  /// Draws fresh weights, noise and classes and moves weights and noise together, so that the teachers say
  /// the classes and the student contradicts them: the images of the step with the least objective.
  Synthetic synthesise(const fedarena::Distillation& teachers, const fedarena::Params& student,
                       fedarena::Stream& draws) const;

 private:
  torch::Tensor images(const torch::Tensor& outputs) const;

  const Synthesis& config_;
  const fedarena::Server& server_;
  fedarena::Model network_;
  std::unique_ptr<fedarena::Compute> compute_;
  torch::Tensor black_, contrast_;  // what is added to, and multiplied with, pixels from 0 to 1
};

}  // namespace dense
