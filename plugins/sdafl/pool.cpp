#include "pool.hpp"

#include <ATen/ATen.h>

namespace sdafl {

using namespace fedarena;

namespace {

constexpr Key<torch::Tensor> kMakers{"makers"};  // numbers of the clients, int64 [n]
constexpr Key<torch::Tensor> kSure{"sure"};      // 0 or 1, int64 [n]

}  // namespace

bool Pool::add(const Message& message, const torch::TensorOptions& options) {
  if (!message.contains(kImages.name)) return false;
  const auto append = [&](Key<torch::Tensor> key, const torch::Tensor& more) {
    state_.put(key, state_.contains(key.name) ? torch::cat({state_[key], more}) : more);
  };
  const torch::Tensor images = message[kImages].to(options);
  const torch::Tensor zeros = torch::zeros({images.size(0)}, images.options().dtype(torch::kInt64));
  append(kImages, images);
  append(kMakers, zeros + message[kClient]);
  append(kLabels, zeros);
  append(kSure, zeros);
  return true;
}

void Pool::label(const Message& message, const Server& server, double confidence) {
  if (!state_.contains(kImages.name)) return;
  const torch::Tensor own = state_[kMakers].eq(message[kClient]).nonzero().flatten();
  if (own.size(0) == 0) return;
  const torch::Tensor images = state_[kImages].index_select(0, own);
  const torch::Tensor outputs = server.compute.outputs(server.params + message[kUpdate], images);
  const auto [probability, label] = torch::softmax(outputs, 1).max(1);
  state_.put(kLabels, state_[kLabels].index_copy(0, own, label));
  state_.put(kSure, state_[kSure].index_copy(0, own, probability.ge(confidence).to(torch::kInt64)));
}

Batch Pool::all() const {
  return state_.contains(kImages.name) ? Batch{state_[kImages], state_[kLabels]} : Batch();
}

Batch Pool::labelled() const {
  const Batch images = all();
  if (!images.inputs.defined()) return {};
  const torch::Tensor sure = state_[kSure].nonzero().flatten();
  return sure.size(0) > 0 ? images.select(sure) : Batch();
}

}  // namespace sdafl
