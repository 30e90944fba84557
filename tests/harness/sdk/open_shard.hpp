#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "fedarena/algorithm.hpp"
#include "fedarena/compute.hpp"

namespace fedarena {

/// A client's examples without a harness: gradients over all of them, whatever the batch size; every access
/// is noted.
class OpenShard final : public Oracle {
 public:
  OpenShard(const Model& model, Batch examples) : model_(model), examples_(std::move(examples)) {}

  Params gradient(const Params& at, const Query& /*query*/) override {
    accesses.emplace_back("gradient");
    return model_.gradient(at, examples_);
  }
  std::int64_t steps_per_epoch(std::int64_t /*batch_size*/) const override { return 1; }
  double loss(const Params& at) override {
    accesses.emplace_back("loss");
    return model_.loss(at, examples_).item<double>();
  }
  torch::Tensor label_counts() override {
    accesses.emplace_back("label counts");
    return counts();
  }
  torch::Tensor held_classes() override {
    accesses.emplace_back("classes");
    return counts().nonzero().flatten();
  }
  Batch exact_batch() override {
    accesses.emplace_back("examples");
    return examples_;
  }
  /// The labels themselves.
  torch::Tensor randomised_response(const torch::Tensor& labels, const torch::Tensor& /*prior*/,
                                    double /*epsilon*/) override {
    accesses.emplace_back("synthetic labels");
    return labels.clone();
  }
  /// Without clipping and noise: all examples in one part, or each for itself.
  torch::Tensor noisy_sum(const Vote& vote, const VoteQuery& query) override {
    accesses.emplace_back("votes");
    const std::int64_t voters = query.parts > 0 ? query.parts : size();
    const std::int64_t each = size() / voters;
    const auto split = [&](const torch::Tensor& rows) {
      return rows.narrow(0, 0, voters * each).unflatten(0, {voters, each});
    };
    const torch::Tensor inputs = split(examples_.inputs), targets = split(examples_.targets);
    torch::Tensor sum;
    for (std::int64_t first = 0; first < voters; first += block) {
      const std::int64_t count = std::min(block, voters - first);
      const Batch asked{inputs.narrow(0, first, count), targets.narrow(0, first, count)};
      Message& memory = memories_[{query.parts, first}];
      const torch::Tensor votes =
          vote({.first = first, .examples = asked, .memory = memory}).sum(0).to(torch::kFloat64);
      sum = sum.defined() ? sum + votes : votes;
    }
    const std::vector<std::int64_t> declared{query.votes, query.numbers};
    if (sum.sizes() != at::IntArrayRef(declared)) throw Bug("votes of another shape than declared");
    if (sum.size(0) > paid_votes) throw Bug("more votes than are paid for");
    if (paid_votes < std::numeric_limits<std::int64_t>::max()) paid_votes -= sum.size(0);
    return sum;
  }
  std::int64_t votes_left(const VoteQuery& /*query*/) const override { return paid_votes; }
  std::int64_t gradients_left(std::int64_t /*batch_size*/) const override { return paid_gradients; }
  std::int64_t size() const override { return examples_.size(); }

  std::vector<std::string> accesses;
  std::int64_t block = 1'000'000;  ///< voters that are asked at once
  std::int64_t paid_votes = std::numeric_limits<std::int64_t>::max();
  std::int64_t paid_gradients = std::numeric_limits<std::int64_t>::max();

 private:
  torch::Tensor counts() const { return at::bincount(examples_.targets, {}, model_.num_classes()); }

  const Model& model_;
  Batch examples_;
  std::map<std::pair<std::int64_t, std::int64_t>, Message> memories_;
};

/// Answers with nothing.
class NoExamples : public Oracle {
 public:
  Params gradient(const Params& at, const Query&) override { return zeros_like(at); }
  std::int64_t steps_per_epoch(std::int64_t) const override { return 0; }
  double loss(const Params&) override { return 0; }
  torch::Tensor label_counts() override { return {}; }
  torch::Tensor held_classes() override { return {}; }
  Batch exact_batch() override { return {}; }
  torch::Tensor randomised_response(const torch::Tensor&, const torch::Tensor&, double) override {
    return {};
  }
  torch::Tensor noisy_sum(const Vote&, const VoteQuery&) override { return {}; }
  std::int64_t votes_left(const VoteQuery&) const override { return 0; }
  std::int64_t gradients_left(std::int64_t) const override { return 0; }
  std::int64_t size() const override { return 0; }
};

/// For algorithms that compute nothing on synthetic data.
class NoCompute : public Compute {
 public:
  std::unique_ptr<Compute> on(const Model&) const override { return std::make_unique<NoCompute>(); }
  Params gradient(const Params& at, const Batch&) const override { return zeros_like(at); }
  torch::Tensor input_gradient(const Params&, const Batch& batch, const Slope&) const override {
    return torch::zeros_like(batch.inputs);
  }
  torch::Tensor outputs(const Params&, const torch::Tensor& inputs) const override { return inputs; }
  OutputGradient output_gradient(const Params& at, const torch::Tensor& inputs,
                                 const torch::Tensor&) const override {
    return {zeros_like(at), torch::zeros_like(inputs)};
  }
  void stop_if_interrupted() const override {}
};

/// The only client of a run's first round, with those examples.
struct LoneClient {
  LoneClient(const Model& model, Batch examples, const Compute& compute,
             const Streams& streams = Streams(5, 1, 0).for_algorithm())
      : shard(model, std::move(examples)),
        client{.id = 0,
               .round = 1,
               .rounds = 1,
               .oracle = shard,
               .state = state,
               .model = model,
               .compute = compute,
               .streams = streams,
               .observed = observed} {}

  OpenShard shard;
  Message state;
  Observations observed;
  Client client;
};

}  // namespace fedarena
