#include "harness/gradients/engine/micro_batch.hpp"

#include <algorithm>
#include <bit>
#include <semaphore>
#include <string_view>
#include <variant>

#include <c10/util/Exception.h>

#include "harness/gradients/cuda/tensors.hpp"

namespace fedarena {
namespace {

// Numbers that the forward pass of a micro-batch may write. Measured with the ConvNet on 32x32 images (0.56
// million an example): 8 examples train at 386 a second and core, 4 at 373, 16 at 352 and 32 at 270.
constexpr std::int64_t kActivationsInCache = 5'000'000;
constexpr std::int64_t kLargestMicroBatch = 256;
// A GPU wants all the work at once, as far as its memory goes.
constexpr std::int64_t kLargestGpuMicroBatch = 512;

// What fits into an eighth of the GPU's memory: what layers are given, what they pass on in both directions,
// and each example's own gradient. Of all memory, not of what is free: the same on every run. Where it is too
// much, micro-batches are halved (Halving).
std::int64_t choose_gpu_micro_batch(const Model& model) {
  const torch::Device device = model.options().device();
  if (!cuda::takes(device)) return kLargestGpuMicroBatch;  // built without nvcc
  constexpr std::int64_t kShare = 8;
  const auto element =
      static_cast<std::int64_t>(c10::elementSize(c10::typeMetaToScalarType(model.options().dtype())));
  const std::int64_t example = element * (3 * model.activations() + model.layout()->numel());
  const std::int64_t fit = std::max<std::int64_t>(1, cuda::memory_of(device) / kShare / example);
  return std::min<std::int64_t>(kLargestGpuMicroBatch,
                                static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(fit))));
}

// How many workers' micro-batches a GPU has at a time. An eighth of its memory for each leaves the rest for
// LibTorch's workspaces; without a bound, who ran out of memory, and with it the bits, would depend on who
// came first.
constexpr std::ptrdiff_t kMicroBatchesOnAGpu = 4;
std::counting_semaphore<kMicroBatchesOnAGpu> turns_on_a_gpu(kMicroBatchesOnAGpu);

class Turn {
 public:
  explicit Turn(bool needed) : needed_(needed) {
    if (needed_) turns_on_a_gpu.acquire();
  }
  ~Turn() {
    if (needed_) turns_on_a_gpu.release();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool needed_;
};

// cuBLAS and cuDNN lack memory in words of their own.
bool is_out_of_memory(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  const std::string_view what = error.what_without_backtrace();
  return what.find("ALLOC_FAILED") != std::string_view::npos ||
         what.find("out of memory") != std::string_view::npos ||
         what.find("unable to find an engine") != std::string_view::npos;
}

}  // namespace

std::int64_t choose_micro_batch(const Model& model) {
  if (model.options().device().is_cuda()) return choose_gpu_micro_batch(model);
  const auto fit =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, kActivationsInCache / model.activations()));
  return std::min<std::int64_t>(kLargestMicroBatch, static_cast<std::int64_t>(std::bit_floor(fit)));
}

Halving::Halving(const Model& model)
    : on_gpu_(model.options().device().is_cuda()),
      allowed_(std::ranges::none_of(model.architecture().layers, [](const Layer& layer) {
        return std::holds_alternative<BatchNorm>(layer);
      })) {}

void Halving::run(std::int64_t begin, std::int64_t end,
                  const std::function<void(std::int64_t, std::int64_t)>& work) const {
  try {
    const Turn turn(on_gpu_);
    return work(begin, end);
  } catch (const c10::Error& error) {
    if (end - begin < 2 || !allowed_ || !is_out_of_memory(error)) throw;
  }
  const std::int64_t middle = begin + (end - begin) / 2;
  run(begin, middle, work);
  run(middle, end, work);
}

}  // namespace fedarena
