#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/algorithm.hpp"

#include "datasets/dataset.hpp"
#include "harness/gradients/gradients.hpp"

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

/// A client's private examples, without privacy (policy "none"): exact answers, each written down.
class ClientOracle final : public Oracle {
 public:
  /// What every client of a run shares.
  struct Setting {
    const Examples& examples;
    const ExampleReader& reader;
    const Model& model;
    const GradientEngine& engine;
    const std::atomic<bool>& stop;  ///< set on Ctrl-C; gradients then throw Interrupted
    std::int64_t classes;
  };

  /// `positions`: int64 [n], the shard within setting.examples; n may be 0, gradients are then zero.
  ClientOracle(const Setting& setting, torch::Tensor positions, const Streams& streams);

  Params gradient(const Params& at, const Query& query) override;
  std::int64_t steps_per_epoch(std::int64_t batch_size) const override;
  double loss(const Params& at) override;
  torch::Tensor label_counts() override;
  Batch exact_batch() override;
  std::int64_t size() const override { return positions_.size(0); }

  const RoundAccesses& accesses() const { return accesses_; }
  /// Examples whose gradient was taken.
  std::int64_t gradient_examples() const { return gradient_examples_; }

 private:
  torch::Tensor next_batch(std::int64_t batch_size);
  BatchSource source(const torch::Tensor& positions) const;

  Setting setting_;
  torch::Tensor positions_;
  Stream shuffles_;
  torch::Tensor order_;  // the shard in this epoch's order; undefined before the first
  std::int64_t used_ = 0;
  RoundAccesses accesses_;
  std::int64_t gradient_examples_ = 0;
};

}  // namespace fedarena
