// Embeddings: the first layer of a model, so that no gradients in inputs are wanted.
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/kernels/kernels.hpp"
#include "harness/gradients/rules/rule.hpp"

namespace fedarena {
namespace {

// The gradient of one example is held as the table's rows that the example has looked up: rows_[i][k] is the
// gradient of row indices_[i][k].
class EmbeddingRule final : public Rule {
 public:
  EmbeddingRule(const Embedding& layer, std::vector<torch::Tensor> parameters)
      : layer_(layer), parameters_(std::move(parameters)) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    positions_ = embedding_indices(layer_, inputs);
    return at::embedding(parameters_[0], positions_);
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool /*wanted*/) override {
    const torch::Tensor positions = positions_.flatten(1);
    const torch::Tensor vectors = deltas.reshape({deltas.size(0), -1, layer_.dimension});
    for (std::int64_t i = 0; i < deltas.size(0); ++i) {
      const auto [indices, places, counts] =
          at::unique_dim(positions[i], /*dim=*/0, /*sorted=*/true, /*return_inverse=*/true);
      indices_.push_back(indices);
      rows_.push_back(
          at::zeros({indices.size(0), layer_.dimension}, deltas.options()).index_add_(0, places, vectors[i]));
    }
    return {};
  }
  void add_lengths(Lengths& lengths) const override {
    std::vector<double> squared;
    for (const torch::Tensor& rows : rows_) squared.push_back(kernels::squared_norm(rows));
    lengths.add({torch::tensor(squared, torch::kFloat64)},
                [](Length& own, const double* numbers) { own.squared += *numbers; });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (factors[i] == 0) continue;
      const torch::Tensor scaled = rows_[i].to(torch::kFloat64).mul_(factors[i]).to(rows_[i].scalar_type());
      torch::Tensor(sums[0]).index_add_(0, indices_[i], scaled);
    }
  }

 private:
  Embedding layer_;
  std::vector<torch::Tensor> parameters_;
  torch::Tensor positions_;
  std::vector<torch::Tensor> indices_, rows_;
};

// On a GPU: nothing of one example's gradient is held. Its squared norm is the sum of <d_s, d_t> over
// positions s, t that look up the same row, in double; the sum is a second pass, with scaled deltas.
class GhostEmbedding final : public Rule {
 public:
  GhostEmbedding(const Embedding& layer, std::vector<torch::Tensor> parameters)
      : layer_(layer), parameters_(std::move(parameters)) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    const torch::Tensor indices = embedding_indices(layer_, inputs);
    positions_ = indices.flatten(1);
    return at::embedding(parameters_[0], indices);
  }
  torch::Tensor backward(const torch::Tensor& deltas, bool /*wanted*/) override {
    deltas_ = deltas.reshape({deltas.size(0), -1, layer_.dimension});
    return {};
  }
  void add_lengths(Lengths& lengths) const override {
    const torch::Tensor same = positions_.unsqueeze(2).eq(positions_.unsqueeze(1));
    const torch::Tensor deltas = deltas_.to(torch::kFloat64);
    const torch::Tensor products = at::bmm(deltas, deltas.transpose(1, 2));
    const torch::Tensor squared = (products * same).sum({1, 2});
    // Only what one row is given can cancel.
    const torch::Tensor lengths_of_deltas = deltas.square().sum(2).sqrt();
    const torch::Tensor reach =
        (lengths_of_deltas.unsqueeze(2) * lengths_of_deltas.unsqueeze(1) * same).sum({1, 2}).sqrt();
    lengths.add({squared, reach}, [](Length& own, const double* numbers) {
      own.squared += numbers[0] < 0 ? 0 : numbers[0];  // NaN stays
      own.reach += numbers[1];
    });
  }
  void add_sum(const kernels::Factors& factors, std::span<const torch::Tensor> sums) const override {
    const Scaled scaled = scale_examples(factors, positions_, deltas_);
    torch::Tensor(sums[0]).index_add_(0, scaled.inputs.flatten(),
                                      scaled.deltas.reshape({-1, layer_.dimension}));
  }

 private:
  Embedding layer_;
  std::vector<torch::Tensor> parameters_;
  torch::Tensor positions_, deltas_;
};

}  // namespace

std::unique_ptr<Rule> make_embedding_rule(const Embedding& layer, std::vector<torch::Tensor> parameters,
                                          const torch::Tensor& inputs) {
  if (cuda::takes(inputs)) return std::make_unique<GhostEmbedding>(layer, std::move(parameters));
  return std::make_unique<EmbeddingRule>(layer, std::move(parameters));
}

}  // namespace fedarena
