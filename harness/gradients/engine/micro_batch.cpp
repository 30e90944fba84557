#include "harness/gradients/engine/micro_batch.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string_view>
#include <variant>
#include <vector>

#include <c10/util/Exception.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/engine/reservations.hpp"
#include "harness/gradients/rules/rule.hpp"

namespace fedarena {
namespace {

// Numbers that the forward pass of a micro-batch may write. Measured with the ConvNet on 32x32 images (0.56
// million an example): 8 examples train at 386 a second and core, 4 at 373, 16 at 352 and 32 at 270.
constexpr std::int64_t kActivationsInCache = 5'000'000;
constexpr std::int64_t kLargestMicroBatch = 256;
// Weights that are more than all that are read from memory by every micro-batch, which then has twice as many
// activations as there are: measured with the ResNet-18 of 11.2 million weights on 28x28 images (1.4 million
// activations an example), 16 examples train in 0.69 of the time of 2.
constexpr std::int64_t kActivationsAWeight = 2;
// A GPU wants much work at once. In single precision these numbers are 4 GiB: 256 examples of that ConvNet,
// whose convolutions then take a hundred times as long as their launches.
constexpr std::int64_t kNumbersOnAGpu = std::int64_t{1} << 30;
constexpr std::int64_t kLargestGpuMicroBatch = 512;

// Of the patches of an example (rules/product_rules.cpp): those of all convolutions, which a pass keeps, and
// once more of the largest, for its gradient.
std::int64_t patches_of_an_example(const Model& model) {
  const std::vector<Layer>& layers = model.architecture().layers;
  std::int64_t all = 0, largest = 0;
  if (!std::ranges::all_of(layers, has_rule)) return 0;  // by autograd
  for (std::size_t index = 0; index < layers.size(); ++index) {
    const auto* conv = std::get_if<Conv2d>(&layers[index]);
    if (conv == nullptr) continue;
    const std::vector<std::int64_t>& outputs = model.shapes()[index + 1];
    const std::int64_t patches = conv->in * conv->kernel * conv->kernel * outputs[1] * outputs[2];
    all += patches;
    largest = std::max(largest, patches);
  }
  return all + largest;
}

// What an example has on a GPU: what layers are given, what they pass on in both directions, and its own
// gradient.
std::int64_t numbers_of_an_example(const Model& model) {
  return 3 * model.activations() + patches_of_an_example(model) + model.layout()->numel();
}

std::int64_t activations_for_weights(const Model& model) {
  const std::int64_t weights = model.layout()->numel();
  return weights > kActivationsInCache ? kActivationsAWeight * weights : 0;
}

// How many pieces of that size the whole has room for: a power of two from 1 to `most`.
std::int64_t fitting(std::int64_t whole, std::int64_t piece, std::int64_t most) {
  const auto pieces = static_cast<std::uint64_t>(std::max<std::int64_t>(1, whole / piece));
  return std::min(most, static_cast<std::int64_t>(std::bit_floor(pieces)));
}

// Half of what is free when a device is first asked for; the rest is for data that stay there and for
// LibTorch's workspaces. What is free differs from run to run: it decides who waits, not what is computed.
Reservations& reservations_of(torch::Device device) {
  static std::mutex mutex;
  static std::map<torch::DeviceIndex, Reservations> all;
  const std::lock_guard lock(mutex);
  const auto known = all.find(device.index());
  if (known != all.end()) return known->second;
  // Built without nvcc, nobody knows: one after the other.
  const std::int64_t free = cuda::takes(device) ? cuda::memory_of(device).free : 0;
  return all.try_emplace(device.index(), free / 2).first->second;
}

// cuBLAS and cuDNN lack memory in words of their own.
bool is_out_of_memory(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  const std::string_view what = error.what_without_backtrace();
  return what.find("ALLOC_FAILED") != std::string_view::npos ||
         what.find("ALLOCATION_FAILED") != std::string_view::npos ||  // cuDNN 9
         what.find("out of memory") != std::string_view::npos ||
         what.find("unable to find an engine") != std::string_view::npos;
}

}  // namespace

std::int64_t choose_micro_batch(const Model& model) {
  return model.options().device().is_cuda()
             ? fitting(kNumbersOnAGpu, numbers_of_an_example(model), kLargestGpuMicroBatch)
             : fitting(std::max(kActivationsInCache, activations_for_weights(model)), model.activations(),
                       kLargestMicroBatch);
}

GpuMemory::GpuMemory(const Model& model)
    : device_(model.options().device()),
      bytes_of_an_example_(numbers_of_an_example(model) *
                           static_cast<std::int64_t>(model.options().dtype().itemsize())),
      divides_(std::ranges::none_of(model.architecture().layers, [](const Layer& layer) {
        return std::holds_alternative<BatchNorm>(layer);
      })) {}

bool GpuMemory::is_on_gpu() const { return device_.is_cuda() || cuda::takes(device_); }

void GpuMemory::run_on_gpu(std::int64_t begin, std::int64_t end,
                           const std::function<void(std::int64_t begin, std::int64_t end)>& work) const {
  Reservations& shared = reservations_of(device_);
  try {
    const Reservations::Held held = shared.take((end - begin) * bytes_of_an_example_);
    return work(begin, end);
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
  }
  try {
    const Reservations::Held held = shared.take_all();
    return work(begin, end);
  } catch (const c10::Error& error) {
    if (end - begin < 2 || !divides_ || !is_out_of_memory(error)) throw;
  }
  const std::int64_t middle = begin + (end - begin) / 2;
  run_on_gpu(begin, middle, work);
  run_on_gpu(middle, end, work);
}

}  // namespace fedarena
