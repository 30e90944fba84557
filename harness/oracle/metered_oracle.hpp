#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/algorithm.hpp"

#include "datasets/dataset.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/example_reader.hpp"
#include "harness/oracle/noise_source.hpp"

namespace fedarena {

/// A client's private examples in one round. Every access is written down, exact ones as such; how a gradient
/// is answered is what policies differ in.
class MeteredOracle : public Oracle {
 public:
  /// What every client of a run shares, but for the last.
  struct Setting {
    const Examples& examples;
    const ExampleReader& reader;
    const Model& model;
    const GradientEngine& engine;
    const std::atomic<bool>& stop;  ///< set on Ctrl-C; gradients then throw Interrupted
    std::int64_t classes;
    InputSkew skew = {};                      ///< of the one client that this oracle is for
    std::string noise_source = kStreamNoise;  ///< of randomised responses
    /// Whether targets are randomised responses, which are paid for: whatever is computed from them is
    /// post-processing, and costs no more.
    bool released_labels = false;
  };

  virtual ~MeteredOracle() = default;

  std::int64_t steps_per_epoch(std::int64_t batch_size) const override;
  double loss(const Params& at) override;
  torch::Tensor label_counts() override;
  torch::Tensor held_classes() override;
  Batch exact_batch() override;
  torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& prior,
                                    double epsilon) override;
  std::int64_t size() const override { return positions_.size(0); }

  const RoundAccesses& accesses() const { return accesses_; }
  /// Examples whose gradient was taken.
  std::int64_t gradient_examples() const { return gradient_examples_; }
  /// What the answers gave away of the client's gradient canaries.
  virtual const std::vector<double>& canary_scores() const;
  /// How many gradients were asked for, and the positions (int64 [k]) of the examples of the last of them;
  /// undefined when there was none.
  std::int64_t gradients() const { return gradients_; }
  const torch::Tensor& last_batch() const { return last_batch_; }

 protected:
  /// `positions`: int64 [n], the shard within setting.examples; n may be 0.
  MeteredOracle(const Setting& setting, torch::Tensor positions, const Streams& streams);

  const Setting& setting() const { return setting_; }
  const torch::Tensor& positions() const { return positions_; }
  /// Those of the positions where there is an example: a canary that is out keeps its place alone.
  const torch::Tensor& held() const { return held_; }
  void hold(torch::Tensor positions) { held_ = std::move(positions); }
  RoundAccesses& book() { return accesses_; }
  /// Writes down an access to examples with their targets.
  void note(const Event& access) {
    if (!setting_.released_labels) accesses_.add(access);
  }
  /// Of the examples at those positions.
  void count_gradient(const torch::Tensor& batch) {
    gradient_examples_ += batch.size(0);
    ++gradients_;
    last_batch_ = batch;
  }
  /// Refuses a query that has no answer; to be called before anything is drawn or written down.
  void check(const Query& query) const;
  /// Hands out the examples at those positions, augmented where the query asks for it.
  BatchSource source(const torch::Tensor& positions, const Query& query = {}) const;
  /// How asking for the classes is written down.
  virtual Event class_access() const { return ExactAccess{"classes"}; }
  /// How asking for the label counts is.
  virtual Event label_count_access() const { return ExactAccess{"label counts"}; }

 private:
  Setting setting_;
  torch::Tensor positions_, held_;
  Streams streams_;
  std::unique_ptr<NoiseSource> responses_;  // nullptr before the first
  RoundAccesses accesses_;
  std::int64_t gradient_examples_ = 0, gradients_ = 0;
  torch::Tensor last_batch_;
};

}  // namespace fedarena
