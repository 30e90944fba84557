#pragma once

#include <cstdint>
#include <memory>

#include <torch/types.h>

#include "fedarena/adam.hpp"
#include "fedarena/generators.hpp"

namespace fedarena::generators {

/// What generators draw.
enum class Draw : std::uint64_t {
  kImages = 1,
  kOrder,
  kWeights,
  kLatents,
  kTeacherWeights,
  kTeacherBatches,
  kSigns,
  kFrequencies,
};

/// The stream of that name, apart from all that plugins number from 0. `step` < 2^32, `voter` < 2^24.
inline Stream stream_of(const Streams& streams, Draw what, std::int64_t step = 0, std::int64_t voter = 0) {
  return streams(Purpose::kSynthetic, static_cast<std::uint64_t>(what) << 56U |
                                          static_cast<std::uint64_t>(step) << 24U |
                                          static_cast<std::uint64_t>(voter));
}

/// Images as rows of pixels from 0 (black) to 1 (white), which networks of generators work on; inputs of a
/// client that are no images of known pixels stay as they are.
class PixelScale {
 public:
  explicit PixelScale(const Client& client);

  std::int64_t pixels() const { return black_.size(0); }
  /// [n, pixels] from [n, input shape...].
  torch::Tensor to_pixels(const torch::Tensor& inputs) const {
    return (inputs.flatten(1) - black_) / contrast_;
  }
  /// [n, pixels], to be viewed in the shape of inputs.
  torch::Tensor to_inputs(const torch::Tensor& pixels) const { return pixels * contrast_ + black_; }

 private:
  torch::Tensor black_, contrast_;  // [pixels]
};

/// first, first + 1, .. modulo the classes: int64 [count].
torch::Tensor labels_in_turn(const Client& client, std::int64_t count, std::int64_t first = 0);
/// Those of a client's set: 0, 1, .. in turn; where there are fewer than classes, from where the client
/// before it left off, so that together they have all.
torch::Tensor labels_of_set(const Client& client, std::int64_t count);

/// A network [noise and class] -> width -> width -> pixels, leaky ReLU, a sigmoid at the end, trained by
/// Adam.
class ImageGenerator {
 public:
  ImageGenerator(const Generators& config, const Client& client);

  /// What images of these classes (int64 [n]) are made of: standard normal noise, and behind it the class.
  torch::Tensor codes(const torch::Tensor& labels, Stream& stream) const;
  /// [n, pixels], from 0 to 1.
  torch::Tensor pixels(const torch::Tensor& codes) const;
  /// A step against a loss whose derivatives in the pixels of these codes are `slopes`.
  void descend(const torch::Tensor& codes, const torch::Tensor& pixels, const torch::Tensor& slopes,
               double rate);
  /// A step against the cross-entropy of the pixels of these codes with those that are wanted, from 0 to 1.
  void approach(const torch::Tensor& codes, const torch::Tensor& pixels, const torch::Tensor& wanted,
                double rate);

 private:
  // `slopes`: derivatives in what the sigmoid takes.
  void step(const torch::Tensor& codes, const torch::Tensor& slopes, double rate);

  std::int64_t noise_size_, classes_;
  Model network_;
  std::unique_ptr<const Compute> compute_;
  Params weights_;
  Adam adam_{{.beta1 = 0.5}};
};

/// Trains the generator by votes of teachers on parts of the shard (Wang et al. 2021); returns the number of
/// votes.
std::int64_t train_by_teachers(const Generators& config, Client& client, ImageGenerator& generator);

/// Trains it on one noisy mean embedding of the shard (Harder et al. 2021); returns the number of votes.
std::int64_t train_on_embedding(const Generators& config, Client& client, ImageGenerator& generator);

/// How many votes the one and the other ask for.
std::int64_t teacher_votes(const Generators& config, const Client& client);
std::int64_t embedding_votes(const Generators& config, const Client& client);

}  // namespace fedarena::generators
