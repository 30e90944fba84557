#include "harness/gradients/cuda/place.hpp"

#include <atomic>
#include <limits>

#include "fedarena/base/error.hpp"

namespace fedarena::cuda {
namespace {

enum class Walk { kNone, kForward, kBackward };
std::atomic<Walk> walk_now = Walk::kNone;
std::atomic<std::int64_t> most_numbers_now = 0;

}  // namespace

bool takes(torch::Device device) {
#ifdef FEDARENA_WITH_CUDA
  if (device.is_cuda()) return true;
#endif
  return device.is_cpu() && walk_now.load(std::memory_order_relaxed) != Walk::kNone;
}

Memory memory_of(torch::Device device) {
#ifdef FEDARENA_WITH_CUDA
  if (device.is_cuda()) return gpu_memory_of(device);
#endif
  FEDARENA_CHECK(takes(device), ==, true);
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  return {.free = kNoEnd, .total = kNoEnd};
}

Walked::Walked(Order order, std::int64_t most_numbers) {
  most_numbers_now = most_numbers;
  walk_now = order == Order::kForward ? Walk::kForward : Walk::kBackward;
}
Walked::~Walked() { walk_now = Walk::kNone; }

Place place_of(const torch::Tensor& tensor) {
  const torch::Device device = tensor.device();
#ifdef FEDARENA_WITH_CUDA
  if (device.is_cuda()) return {.on_gpu = true, .stream = current_stream(device)};
#endif
  FEDARENA_CHECK(takes(device), ==, true);
  TORCH_CHECK_WITH(OutOfMemoryError, tensor.numel() <= most_numbers_now, "a walk has no memory for more");
  return {.order = walk_now == Walk::kBackward ? Order::kBackward : Order::kForward};
}

}  // namespace fedarena::cuda
