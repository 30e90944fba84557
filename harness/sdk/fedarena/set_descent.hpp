#pragma once

#include <cstdint>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// The hyper-parameters of servers that train on synthetic sets: derive your Config from it.
struct FEDARENA_API SetTraining {
  std::int64_t server_epochs = 100;
  std::int64_t server_batch_size = 512;

  static Schema<SetTraining> schema();
};

/// SGD on a set that is not empty, epoch by epoch, each in batches of an order of its own.
class FEDARENA_API SetDescent {
 public:
  /// `compute` must outlive it.
  SetDescent(std::int64_t batch_size, const Compute& compute, Batch set, Stream shuffles);

  /// One pass over the set: steps of that rate from `params`, each only while `params` is nearer to `start`
  /// than the radius. False when it is not any more.
  bool next(Params& params, const Params& start, double radius, double rate);

 private:
  std::int64_t batch_size_;
  const Compute& compute_;
  Batch set_;
  Stream shuffles_;
};

}  // namespace fedarena
