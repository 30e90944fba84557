#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The hyper-parameters of methods that compare synthetic images with examples class by class: derive your
/// Config from it.
struct FEDARENA_API ClassMatching {
  std::int64_t batch_size = 256;
  std::string augmentation = "none";

  static Schema<ClassMatching> schema();
  /// Throws Error for an unknown augmentation.
  void validate() const;
};

/// A client's raw examples, class by class, for methods that condense each class by itself. What such a
/// method sends has no record-level guarantee.
class FEDARENA_API ClassBatches {
 public:
  /// One exact access. Batches hold up to `batch_size` examples; 0: all of a class.
  ClassBatches(Client& client, std::int64_t batch_size, Stream draws);

  /// Examples of that class, drawn anew each time without replacement; empty where the client holds none.
  Batch draw(std::int64_t label);

 private:
  Batch examples_;
  std::vector<torch::Tensor> positions_;  // by class
  std::int64_t batch_size_;
  Stream draws_;
};

/// The derivative, in a class's images, of what tells them from its examples; both come augmented alike.
using ClassSlope = std::function<torch::Tensor(const Batch& examples, const Batch& images)>;

/// The examples of a class that its images are compared with; empty where there is none.
using ClassExamples = std::function<Batch(std::int64_t label)>;

/// The derivative of a sum over classes in the images of `set`, whose labels ascend, in their shape: each
/// class' own, taken back through the augmentation that is drawn for it. Zero where a class has no examples.
FEDARENA_API torch::Tensor slope_by_class(const ClassMatching& how, const Batch& set,
                                          const ClassExamples& examples, Stream& augmentations,
                                          const ClassSlope& slope);

}  // namespace fedarena
