// Group normalisation, with the ReLU and the average pooling that follow it while a plane is in the innermost
// cache.
#include <vector>

#include <ATen/Dispatch.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/rules/norm_planes.hpp"

namespace fedarena::kernels {
namespace {

template <typename T>
inline void normalise_plane(const T* in, std::int64_t count, T mean, T scale, T shift, bool relu, T* out) {
  if (relu) {
    // As LibTorch has it: NaN and minus zero stay.
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = normalised(in[i], mean, scale, shift);
      out[i] = value < 0 ? T(0) : value;
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = normalised(in[i], mean, scale, shift);
  }
}

template <typename T>
void run_forward(const torch::Tensor& inputs, const Norm& norm, const Normalised& to) {
  const Extent extent(inputs, norm);
  const Tail& tail = norm.tail;
  const T *in = inputs.data_ptr<T>(), *weight = norm.weight.data_ptr<T>(), *bias = norm.bias.data_ptr<T>();
  T *mean = to.mean.data_ptr<T>(), *inverse = to.inverse_deviation.data_ptr<T>();
  T* out = to.outputs.data_ptr<T>();
  std::vector<T> plane(tail.pool == 0 ? 0 : static_cast<std::size_t>(extent.plane));  // for pooling
  T* scratch = plane.data();
  run_vectorised([&] {
    for (std::int64_t group = 0; group < extent.groups; ++group) {
      const T* x = in + group * extent.group();
      if (group + 1 < extent.groups) prefetch(x + extent.group(), extent.plane);
      const Moments<T> moments = moments_of(x, extent.group(), norm.layer.epsilon);
      mean[group] = moments.mean;
      inverse[group] = moments.inverse_deviation;
      const std::int64_t first = extent.first_channel(group);
      for (std::int64_t c = 0; c < extent.channels; ++c, x += extent.plane, out += extent.pooled_plane) {
        normalise_plane(x, extent.plane, moments.mean, inverse[group] * weight[first + c], bias[first + c],
                        tail.relu, tail.pool == 0 ? out : scratch);
        if (tail.pool != 0) pool_plane<T>(scratch, extent.height, extent.width, tail.pool, out);
      }
    }
  });
}

template <typename T>
void run_backward(const torch::Tensor& deltas, const torch::Tensor& inputs, const Normalised& forward,
                  const Norm& norm, const NormGradient& to) {
  const Extent extent(inputs, norm);
  const Tail& tail = norm.tail;
  const T *in = inputs.data_ptr<T>(), *delta = deltas.data_ptr<T>();
  const T *weight = norm.weight.data_ptr<T>(), *bias = norm.bias.data_ptr<T>();
  const T *mean = forward.mean.data_ptr<T>(), *inverse = forward.inverse_deviation.data_ptr<T>();
  T *out = to.inputs.data_ptr<T>(), *weight_row = to.weight.data_ptr<T>(), *bias_row = to.bias.data_ptr<T>();
  std::vector<T> group_of_numbers(static_cast<std::size_t>(extent.group()));
  T* scratch = group_of_numbers.data();  // for the gradients in what was normalised
  run_vectorised([&] {
    const std::int64_t plane = extent.plane;
    const auto size = static_cast<double>(extent.group());
    const bool direct = !tail.relu && tail.pool == 0;
    for (std::int64_t group = 0; group < extent.groups; ++group) {
      const T centre = mean[group];
      const T deviation = inverse[group];
      const std::int64_t first = extent.first_channel(group);
      const T* scales = weight + first;
      const T* group_in = in + group * extent.group();
      const T* group_delta = delta + group * extent.channels * extent.pooled_plane;
      double sum = 0;      // of weight * delta
      double product = 0;  // of weight * delta * (input - mean)
      for (std::int64_t c = 0; c < extent.channels; ++c) {
        const T* x = group_in + c * plane;
        if (c + 1 < extent.channels || group + 1 < extent.groups) prefetch(x + plane, plane);
        const T* d = through_tail(extent, tail, x, centre, deviation * scales[c], bias[first + c],
                                  group_delta + c * extent.pooled_plane, scratch + c * plane);
        const double slope =
            sum_of<T>(plane, [x, d, centre](std::int64_t i) { return d[i] * (x[i] - centre); });
        const double total = sum_of<T>(plane, [d](std::int64_t i) { return d[i]; });
        *weight_row++ = static_cast<T>(slope * static_cast<double>(deviation));
        *bias_row++ = static_cast<T>(total);
        product += slope * static_cast<double>(scales[c]);
        sum += total * static_cast<double>(scales[c]);
      }
      const auto along =
          static_cast<T>(product / size * static_cast<double>(deviation) * static_cast<double>(deviation));
      const auto constant = static_cast<T>(sum / size);
      for (std::int64_t c = 0; c < extent.channels; ++c, out += plane) {
        const T* x = group_in + c * plane;
        const T* d = (direct ? group_delta : scratch) + c * plane;
        const T scale = scales[c];
        for (std::int64_t i = 0; i < plane; ++i) {
          out[i] = deviation * (scale * d[i] - constant - (x[i] - centre) * along);
        }
      }
    }
  });
}

}  // namespace

Normalised group_norm(const torch::Tensor& inputs, const Norm& norm) {
  const std::vector<std::int64_t> moments{inputs.size(0), norm.layer.groups};
  Normalised result{torch::empty(outputs_of(inputs, norm.tail), inputs.options()),
                    torch::empty(moments, inputs.options()), torch::empty(moments, inputs.options())};
  if (cuda::takes(inputs)) {
    cuda::group_norm(inputs, norm, result);
    return result;
  }
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "group_norm",
                             [&] { run_forward<scalar_t>(inputs, norm, result); });
  return result;
}

NormGradient group_norm_backward(const torch::Tensor& deltas, const torch::Tensor& inputs,
                                 const Normalised& forward, const Norm& norm) {
  const std::vector<std::int64_t> rows{inputs.size(0), norm.layer.channels};
  NormGradient result{torch::empty_like(inputs), torch::empty(rows, inputs.options()),
                      torch::empty(rows, inputs.options())};
  if (cuda::takes(inputs)) {
    cuda::group_norm_backward(deltas, inputs, forward, norm, result);
    return result;
  }
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "group_norm_backward",
                             [&] { run_backward<scalar_t>(deltas, inputs, forward, norm, result); });
  return result;
}

}  // namespace fedarena::kernels
