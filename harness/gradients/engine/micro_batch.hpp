#pragma once

#include <cstdint>
#include <functional>

#include "fedarena/model.hpp"

namespace fedarena {

/// How many examples a worker takes at once: by the model and the kind of its device alone, never by workers,
/// batches or memory, so that sums have the same order everywhere.
std::int64_t choose_micro_batch(const Model& model);

/// Keeps work on a GPU within its memory. On the CPU nothing.
class GpuMemory {
 public:
  explicit GpuMemory(const Model& model);

  /// Does the work of examples [begin, end), once others leave memory for it. Where the GPU still has not
  /// enough, again with nobody beside; and where that fails, half by half, so that sums have another order. A
  /// model that normalises over batches would be another one by halves: there the error stands, as it does
  /// for a single example.
  template <typename Work>
  void run(std::int64_t begin, std::int64_t end, const Work& work) const {
    if (is_on_gpu())
      run_on_gpu(begin, end, work);
    else
      work(begin, end);
  }

 private:
  bool is_on_gpu() const;
  void run_on_gpu(std::int64_t begin, std::int64_t end,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& work) const;

  torch::Device device_;
  std::int64_t bytes_of_an_example_;
  bool divides_;
};

}  // namespace fedarena
