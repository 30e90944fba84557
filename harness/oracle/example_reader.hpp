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

 private:
  torch::TensorOptions options_;
  torch::Tensor scale_, shift_;  // per channel; undefined when inputs are used as they are
};

}  // namespace fedarena
