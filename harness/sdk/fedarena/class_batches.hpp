#pragma once

#include <cstdint>
#include <vector>

#include "fedarena/algorithm.hpp"

namespace fedarena {

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

}  // namespace fedarena
