#pragma once

#include <cstdint>
#include <string>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The hyper-parameters of what draws labelled images in place of a client's own: derive your Config from it.
/// Defaults are for two cores. The published ones, as far as they differ:
/// - datalens (Wang et al., CCS 2021): teachers 4000, top_k 300, and noise of standard deviation 5000 on sums
///   of signs, which is a noise_multiplier of 5000 / sqrt(300) = 288.7. For each teacher, 200 of them with
///   top_k 30 have the same noise at 250 / sqrt(30) = 45.6.
/// - dp-merf (Harder, Adamczewski, Park, AISTATS 2021): merf_frequencies 5000, merf_batch_size 500,
///   noise_size 5, generator_width 200; merf_length_scale sqrt(127) on Fashion-MNIST.
/// - psg (Chen, Kerkouche, Fritz, NeurIPS 2022): psg_models 1000, psg_points 10, psg_epochs 50.
struct FEDARENA_API Generators {
  std::string generator = "datalens";
  std::int64_t noise_size = 50;
  std::int64_t generator_width = 256;
  std::int64_t generator_steps = 0;
  std::int64_t generator_batch_size = 30;
  double generator_rate = 0.01;
  double move_size = 0.1;
  std::int64_t teachers = 200;
  double teacher_rate = 0.1;
  double teacher_decay = 1;
  std::int64_t teacher_steps = 2;
  std::int64_t teacher_warm_up = 10;
  std::int64_t top_k = 30;
  double sign_scale = 1e-5;
  double vote_threshold = 0.7;
  std::int64_t merf_frequencies = 500;
  double merf_length_scale = 10.25;
  std::int64_t merf_steps = 600;
  std::int64_t merf_batch_size = 100;
  double merf_rate = 0.01;
  std::int64_t psg_images_per_class = 10;
  std::int64_t psg_models = 20;
  std::int64_t psg_points = 5;
  std::int64_t psg_epochs = 10;
  std::int64_t psg_gradients = 10;
  std::int64_t psg_batch_size = 256;

  static Schema<Generators> schema();
};

/// Error unless the model's loss is that of classes, of which generators draw images: for an algorithm's
/// start().
FEDARENA_API void check_draws_classes(const Model& model);

/// Trains the generator on the client's shard through its oracle, then draws `examples` images, >= 0, as the
/// client's model takes them. Image i has label i modulo the classes, in sets of fewer images from where the
/// client before left off, except that "real" draws the client's
/// own examples with their labels, each once before any comes again, and none where it has none. Observes
/// "votes", the noisy sums that it was answered (private gradients for psg), and of datalens
/// "vote-crossings", the share of pixels above the threshold. Draws from streams of kSynthetic from number
/// 2^56 on, and for psg from 0, 1, 4 and 5. Error for a regression, and for datalens without both a budget
/// and generator_steps.
FEDARENA_API Batch generate(const Generators& config, Client& client, std::int64_t examples);

/// The noised answers that generate() asks for, which no answer changes.
FEDARENA_API AccessPlan generation_plan(const Generators& config, const Client& client);

}  // namespace fedarena
