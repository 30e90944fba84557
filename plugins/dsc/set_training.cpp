#include "set_training.hpp"

#include <algorithm>
#include <utility>

#include <fedarena/augmentation.hpp>

namespace dsc {

using namespace fedarena;

SetTrainer::SetTrainer(Training how, const Compute& compute, Stream& shuffles, Stream& augmentations)
    : how_(std::move(how)), compute_(compute), shuffles_(shuffles), augmentations_(augmentations) {}

void SetTrainer::epoch(Params& params, const Batch& set, double rate) {
  if (velocity_.empty()) velocity_ = zeros_like(params);
  const torch::Tensor order = torch::tensor(shuffles_.permutation(set.size()), torch::kInt64);
  for (std::int64_t first = 0; first < set.size(); first += how_.batch_size) {
    const std::int64_t count = std::min(how_.batch_size, set.size() - first);
    Batch batch = set.select(order.narrow(0, first, count));
    batch.inputs = Augmentation::draw(how_.augmentation, augmentations_)(batch.inputs);
    velocity_ *= how_.momentum;
    velocity_ += compute_.gradient(params, batch);
    velocity_.add_scaled(how_.weight_decay, params);
    params.add_scaled(-rate, velocity_);
  }
}

}  // namespace dsc
