#include "fedarena/class_batches.hpp"

namespace fedarena {

Schema<ClassMatching> ClassMatching::schema() {
  return {
      {"batch_size", &ClassMatching::batch_size,
       "examples of each class in a step; 0: all (any number is an exact access)",
       Constraint::between(0, 10'000'000)},
      {"augmentation",
       &ClassMatching::augmentation,
       "differentiable siamese augmentation of examples and images, drawn for each class and step: "
       "operations joined by \"_\" out of color, crop, cutout, flip, scale, rotate; or none",
       {}},
  };
}

void ClassMatching::validate() const { Augmentation::validate(augmentation); }

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
  return examples_.select(own.index_select(0, drawn.to(own.device())));
}

torch::Tensor slope_by_class(const ClassMatching& how, const Batch& set, const ClassExamples& examples,
                             Stream& augmentations, const ClassSlope& slope) {
  torch::Tensor result = torch::zeros_like(set.inputs);
  std::int64_t count = 0;
  for (std::int64_t first = 0; first < set.size(); first += count) {
    const auto label = set.targets[first].item<std::int64_t>();
    count = set.targets.eq(label).sum().item<std::int64_t>();
    const Batch real = examples(label);
    const Augmentation augmentation = Augmentation::draw(how.augmentation, augmentations);
    if (real.size() == 0) continue;
    const torch::Tensor images = set.inputs.narrow(0, first, count);
    const torch::Tensor own = slope({augmentation(real.inputs), real.targets},
                                    {augmentation(images), set.targets.narrow(0, first, count)});
    result.narrow(0, first, count).copy_(augmentation.pull_back(images, own));
  }
  return result;
}

}  // namespace fedarena
