#pragma once

#include <cstdint>
#include <functional>

#include "fedarena/model.hpp"

namespace fedarena {

/// How many examples a worker takes at once: by the model and its device alone, never by workers or batches.
std::int64_t choose_micro_batch(const Model& model);

/// What is done where a GPU has not enough memory for a micro-batch. On the CPU nothing.
class Halving {
 public:
  explicit Halving(const Model& model);

  /// Does the work of examples [begin, end): at once, or half by half where there is no memory for the whole.
  /// A model that normalises over batches would be another one by halves: there the error stands, as it does
  /// for a single example.
  void run(std::int64_t begin, std::int64_t end,
           const std::function<void(std::int64_t, std::int64_t)>& work) const;

 private:
  bool on_gpu_, allowed_;
};

}  // namespace fedarena
