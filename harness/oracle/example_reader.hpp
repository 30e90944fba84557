#pragma once

#include "fedarena/model.hpp"

#include "datasets/dataset.hpp"

namespace fedarena {

/// Turns stored examples into what a model works on: floating type, device, pixels scaled and normalised.
class ExampleReader {
 public:
  ExampleReader(const Dataset& dataset, torch::TensorOptions options);
  /// The examples at `positions` (int64 [k], on the CPU).
  Batch read(const Examples& examples, const torch::Tensor& positions) const;
  /// The inverse for inputs: pixels in units of the data set scaled to [0, 1], which they may leave; inputs
  /// that are used as they are come back unchanged. A copy: float32 on the CPU, contiguous.
  torch::Tensor pixels(const torch::Tensor& inputs) const;

 private:
  torch::TensorOptions options_;
  torch::Tensor scale_, shift_;  // per channel; undefined when inputs are used as they are
};

}  // namespace fedarena
