#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fedarena/model.hpp"

#include "datasets/dataset.hpp"

namespace fedarena {

/// What one client's inputs are changed by whenever they are read: how clients' features differ. An example
/// is changed in the same way at every reading.
struct InputSkew {
  std::int64_t degrees = 0;  ///< images are turned counter-clockwise by this multiple of 90 first
  double noise = 0;          ///< then standard deviation of Gaussian noise on inputs scaled to [0, 1]
  std::uint64_t seed = 0;    ///< of the run
  std::int64_t client = 0;
  std::int64_t first = 0;  ///< the number of example 0: tells the noise of several lists of examples apart
};

/// Numbers of examples as int64 [n]. One copy, where torch::tensor() makes several: clients may be many, and
/// their rounds short.
torch::Tensor tensor_of(std::span<const std::int64_t> positions);

/// Turns stored examples into what a model works on: floating type, device, pixels scaled and normalised. On
/// a GPU it keeps a copy of the examples as they are stored.
class ExampleReader {
 public:
  ExampleReader(const Dataset& dataset, torch::TensorOptions options);
  /// The examples at `positions` (int64 [k], on the CPU). Noise is added after scaling and before
  /// normalising, and is not clipped; turned images must be square.
  Batch read(const Examples& examples, const torch::Tensor& positions, const InputSkew& skew = {}) const;
  /// The inverse for inputs: pixels in units of the data set scaled to [0, 1], which they may leave; inputs
  /// that are used as they are come back unchanged. A copy: float32 on the CPU, contiguous.
  torch::Tensor pixels(const torch::Tensor& inputs) const;
  /// What the shades 0 and 255 become: [2, channels]; undefined when inputs are used as they are. The same
  /// tensor at every call, as every client of every round is handed it.
  const torch::Tensor& pixel_range() const { return pixel_range_; }

 private:
  // Noise on inputs of that shape, in the units of what read() returns.
  torch::Tensor noise(at::IntArrayRef shape, const torch::Tensor& positions, const InputSkew& skew) const;

  class Residents;

  torch::TensorOptions options_;
  std::shared_ptr<Residents> residents_;  // on a GPU
  torch::Tensor scale_, shift_;           // per channel; undefined when inputs are used as they are
  torch::Tensor pixel_range_;
};

}  // namespace fedarena
