#include "harness/gradients/cuda/tensors.hpp"

#include <limits>
#include <new>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <c10/core/DeviceGuard.h>

#include "fedarena/base/error.hpp"

#include "harness/gradients/cuda/norm_tangents.hpp"
#include "harness/gradients/cuda/normals.hpp"
#include "harness/gradients/cuda/norms.hpp"
#include "harness/gradients/cuda/patches.hpp"
#include "harness/gradients/cuda/place.hpp"
#include "harness/gradients/cuda/pools.hpp"
#include "harness/gradients/cuda/rows.hpp"
#include "harness/gradients/rules/norm_planes.hpp"

namespace fedarena::cuda {
namespace {

// Indices within an example have 32 bits.
int narrow(std::int64_t number) {
  FEDARENA_CHECK(number, <=, std::numeric_limits<int>::max());
  return static_cast<int>(number);
}

// Runs the kernel that make(T()) gives on the tensor's device, for its type of numbers.
template <typename Make>
void launch_for(const torch::Tensor& tensor, const Make& make) {
  const c10::DeviceGuard guard(tensor.device());
  AT_DISPATCH_FLOATING_TYPES(tensor.scalar_type(), "a kernel", [&] {
    try {
      launch(make(scalar_t()), place_of(tensor));
    } catch (const std::bad_alloc&) {  // in LibTorch's words, like all else that a GPU lacks memory for
      TORCH_CHECK_WITH(OutOfMemoryError, false, "a GPU has no memory left to start a kernel");
    }
  });
}

template <typename T>
T* numbers_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

NormSizes sizes_of(const torch::Tensor& inputs, const kernels::Norm& norm) {
  const kernels::Extent extent(inputs, norm);
  (void)narrow(extent.group());
  return {.groups = norm.layer.groups,
          .channels = narrow(extent.channels),
          .windows = {narrow(extent.height), narrow(extent.width),
                      narrow(std::max<std::int64_t>(1, norm.tail.pool))},
          .relu = norm.tail.relu,
          .epsilon = norm.layer.epsilon};
}

template <typename T>
MovingScales<T> scales_of(const kernels::MovingNorm& norm) {
  return {norm.weight.data_ptr<T>(), norm.bias.data_ptr<T>(), norm.weight_tangent.data_ptr<T>(),
          norm.bias_tangent.data_ptr<T>()};
}

PatchSizes patch_sizes(const Conv2d& layer, std::int64_t height, std::int64_t width) {
  const std::int64_t out_plane = (height + 2 * layer.padding) * (width + 2 * layer.padding);
  (void)narrow((layer.in * layer.kernel * layer.kernel + 4) * out_plane);
  return {narrow(layer.in), narrow(layer.kernel), narrow(layer.padding),
          narrow(height),   narrow(width),        narrow(layer.stride)};
}

}  // namespace

void pool_planes(kernels::Pooling what, std::int64_t size, at::IntArrayRef shape, const torch::Tensor& inputs,
                 const torch::Tensor& from, const torch::Tensor& to) {
  launch_for(to, [&]<typename T>(T /*type*/) {
    return ForEach{Pool<T>{what,
                           {narrow(shape[2]), narrow(shape[3]), narrow(size)},
                           shape[0] * shape[1],
                           numbers_of<T>(inputs),
                           numbers_of<T>(from),
                           to.data_ptr<T>()}};
  });
}

void group_norm(const torch::Tensor& inputs, const kernels::Norm& norm, const kernels::Normalised& to) {
  launch_for(inputs, [&]<typename T>(T /*type*/) {
    return NormForward<T>{.sizes = sizes_of(inputs, norm),
                          .count = inputs.size(0) * norm.layer.groups,
                          .inputs = inputs.data_ptr<T>(),
                          .weight = norm.weight.data_ptr<T>(),
                          .bias = norm.bias.data_ptr<T>(),
                          .outputs = to.outputs.data_ptr<T>(),
                          .mean = to.mean.data_ptr<T>(),
                          .inverse = to.inverse_deviation.data_ptr<T>()};
  });
}

void group_norm_backward(const torch::Tensor& deltas, const torch::Tensor& inputs,
                         const kernels::Normalised& forward, const kernels::Norm& norm,
                         const kernels::NormGradient& to) {
  launch_for(inputs, [&]<typename T>(T /*type*/) {
    return NormBackward<T>{.sizes = sizes_of(inputs, norm),
                           .count = inputs.size(0) * norm.layer.groups,
                           .inputs = inputs.data_ptr<T>(),
                           .deltas = deltas.data_ptr<T>(),
                           .weight = norm.weight.data_ptr<T>(),
                           .bias = norm.bias.data_ptr<T>(),
                           .mean = forward.mean.data_ptr<T>(),
                           .inverse = forward.inverse_deviation.data_ptr<T>(),
                           .outputs = to.inputs.data_ptr<T>(),
                           .weight_rows = to.weight.data_ptr<T>(),
                           .bias_rows = to.bias.data_ptr<T>()};
  });
}

void group_norm_tangent(const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                        const kernels::MovingNorm& norm, const kernels::NormTangent& to) {
  launch_for(inputs, [&]<typename T>(T /*type*/) {
    return NormTangentForward<T>{.sizes = sizes_of(inputs, norm),
                                 .count = inputs.size(0) * norm.layer.groups,
                                 .scales = scales_of<T>(norm),
                                 .inputs = inputs.data_ptr<T>(),
                                 .input_tangents = input_tangents.data_ptr<T>(),
                                 .outputs = to.outputs.data_ptr<T>(),
                                 .moments = to.moments.data_ptr<T>()};
  });
}

void group_norm_backward_tangent(const torch::Tensor& deltas, const torch::Tensor& delta_tangents,
                                 const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                                 const torch::Tensor& moments, const kernels::MovingNorm& norm,
                                 const torch::Tensor& to) {
  launch_for(inputs, [&]<typename T>(T /*type*/) {
    return NormTangentBackward<T>{.sizes = sizes_of(inputs, norm),
                                  .count = inputs.size(0) * norm.layer.groups,
                                  .scales = scales_of<T>(norm),
                                  .inputs = inputs.data_ptr<T>(),
                                  .input_tangents = input_tangents.data_ptr<T>(),
                                  .deltas = deltas.data_ptr<T>(),
                                  .delta_tangents = delta_tangents.data_ptr<T>(),
                                  .moments = moments.data_ptr<T>(),
                                  .outputs = to.data_ptr<T>()};
  });
}

torch::Tensor squared_norms(const torch::Tensor& rows) {
  const torch::Tensor squared = at::empty({rows.size(0)}, rows.options().dtype(torch::kFloat64));
  launch_for(rows, [&]<typename T>(T /*type*/) {
    return SquaredNorms<T>{.rows = rows.data_ptr<T>(),
                           .count = rows.size(0),
                           .size = rows.numel() / std::max<std::int64_t>(1, rows.size(0)),
                           .squared = squared.data_ptr<double>()};
  });
  return squared;
}

void add_weighted_sum(const kernels::Factors& factors, const torch::Tensor& rows,
                      const torch::Tensor& target) {
  const torch::Tensor& weights = factors.on(rows.options());
  launch_for(target, [&]<typename T>(T /*type*/) {
    return ForEach{WeightedSum<T>{.rows = rows.data_ptr<T>(),
                                  .factors = weights.data_ptr<T>(),
                                  .height = weights.numel(),
                                  .size = target.numel(),
                                  .target = target.data_ptr<T>()}};
  });
}

void add_normals(const Stream::Place& from, double deviation, const torch::Tensor& target) {
  launch_for(target, [&]<typename T>(T /*type*/) {
    return ForEach{
        AddNormals<T>{.key = {from.key[0], from.key[1]},
                      .counter = {from.counter[0], from.counter[1], from.counter[2], from.counter[3]},
                      .word = from.word,
                      .pairs = target.numel() / 2,
                      .deviation = deviation,
                      .target = target.data_ptr<T>()}};
  });
}

torch::Tensor patches_of(const Conv2d& layer, const torch::Tensor& inputs) {
  const PatchSizes sizes = patch_sizes(layer, inputs.size(2), inputs.size(3));
  const std::int64_t examples = inputs.size(0);
  (void)narrow(examples * (layer.in + 1));
  torch::Tensor result = at::empty({examples, sizes.rows(), sizes.positions()}, inputs.options());
  launch_for(inputs, [&]<typename T>(T /*type*/) {
    return ForEach{Patches<T>{sizes, examples, inputs.data_ptr<T>(), result.data_ptr<T>()}};
  });
  return result;
}

torch::Tensor weight_matrix(const torch::Tensor& weight, const torch::Tensor& bias, std::int64_t rows) {
  const std::int64_t out = weight.size(0);
  torch::Tensor result = at::empty({out, rows}, weight.options());
  launch_for(result, [&]<typename T>(T /*type*/) {
    return ForEach{WeightMatrix<T>{narrow(out), narrow(weight.numel() / std::max<std::int64_t>(1, out)),
                                   narrow(rows), weight.data_ptr<T>(), bias.data_ptr<T>(),
                                   result.data_ptr<T>()}};
  });
  return result;
}

torch::Tensor add_patches(const Conv2d& layer, const torch::Tensor& patches, at::IntArrayRef shape) {
  const PatchSizes sizes = patch_sizes(layer, shape[2], shape[3]);
  torch::Tensor result = at::empty(shape, patches.options());
  launch_for(result, [&]<typename T>(T /*type*/) {
    return ForEach{AddPatches<T>{sizes, shape[0], patches.data_ptr<T>(), result.data_ptr<T>()}};
  });
  return result;
}

}  // namespace fedarena::cuda
