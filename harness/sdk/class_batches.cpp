#include "fedarena/class_batches.hpp"

#include <algorithm>

namespace fedarena {

ClassBatches::ClassBatches(Client& client, std::int64_t batch_size, Stream draws)
    : examples_(client.oracle.exact_batch()), batch_size_(batch_size), draws_(draws) {
  for (std::int64_t label = 0; label < client.model.num_classes(); ++label) {
    positions_.push_back(examples_.targets.eq(label).nonzero().flatten());
  }
}

Batch ClassBatches::draw(std::int64_t label) {
  const torch::Tensor& own = positions_[static_cast<std::size_t>(label)];
  const std::int64_t held = own.size(0);
  if (batch_size_ == 0 || batch_size_ >= held) return examples_.select(own);
  const torch::Tensor drawn =
      torch::tensor(draws_.sample_without_replacement(held, batch_size_), torch::kInt64);
  return examples_.select(own.index_select(0, drawn));
}

}  // namespace fedarena
