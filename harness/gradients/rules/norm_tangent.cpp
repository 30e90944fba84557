// With c = x - mean, r = 1 / deviation and dots for derivatives in the direction:
//   y = w r c + b,             rho = r. / r = -r^2 mean(c c.),   y. = w r c. + r (w. + rho w) c + b.
//   dx = r (h - A - B r c)     where h = w delta, A = mean(h), B = mean(h r c) over a group, hence
//   dx. = r (h. + rho h - (A. + rho A) - B r c. - (B. + 2 rho B) r c).
#include <vector>

#include <ATen/Dispatch.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/rules/norm_planes.hpp"

namespace fedarena::kernels {
namespace {

// Of one group, in the order in which NormTangent::moments has them.
template <typename T>
struct MovingMoments {
  T mean, inverse, mean_tangent, rate;
};
constexpr std::int64_t kMoments = 4;

template <typename T>
inline MovingMoments<T> moving_moments(const T* x, const T* dx, std::int64_t count, double epsilon) {
  const auto size = static_cast<double>(count);
  const auto [mean, inverse] = moments_of(x, count, epsilon);
  const auto tangent = static_cast<T>(sum_of<T>(count, [dx](std::int64_t i) { return dx[i]; }) / size);
  const double product =
      sum_of<T>(count,
                [x, dx, mean = mean, tangent](std::int64_t i) { return (x[i] - mean) * (dx[i] - tangent); }) /
      size;
  const auto precision = static_cast<double>(inverse) * static_cast<double>(inverse);
  return {mean, inverse, tangent, static_cast<T>(-precision * product)};
}

// What both passes read.
template <typename T>
struct Parameters {
  const T *weight, *bias, *weight_tangent, *bias_tangent;

  explicit Parameters(const MovingNorm& norm)
      : weight(norm.weight.data_ptr<T>()),
        bias(norm.bias.data_ptr<T>()),
        weight_tangent(norm.weight_tangent.data_ptr<T>()),
        bias_tangent(norm.bias_tangent.data_ptr<T>()) {}
};

template <typename T>
inline void tangent_plane(const Parameters<T>& at, std::int64_t count, const T* x, const T* dx,
                          const MovingMoments<T>& group, std::int64_t channel, bool relu, T* to) {
  const auto [mean, inverse, mean_tangent, rate] = group;
  const T scale = inverse * at.weight[channel], shift = at.bias[channel];
  const T turn = inverse * (at.weight_tangent[channel] + rate * at.weight[channel]);
  const T slide = at.bias_tangent[channel];
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = scale * (dx[i] - mean_tangent) + turn * (x[i] - mean) + slide;
  }
  if (!relu) return;
  // A loop of its own: compilers do not vectorise one that need not compute what it drops.
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = normalised(x[i], mean, scale, shift) <= 0 ? T(0) : to[i];
  }
}

template <typename T>
void run_forward_tangent(const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                         const MovingNorm& norm, const NormTangent& to) {
  const Extent extent(inputs, norm);
  const Tail& tail = norm.tail;
  const Parameters<T> at(norm);
  const T *in = inputs.data_ptr<T>(), *in_tangent = input_tangents.data_ptr<T>();
  T* out = to.outputs.data_ptr<T>();
  auto* moments = reinterpret_cast<MovingMoments<T>*>(to.moments.data_ptr<T>());
  std::vector<T> plane(static_cast<std::size_t>(extent.plane));  // for pooling
  T* scratch = plane.data();
  run_vectorised([&] {
    const T *x = in, *dx = in_tangent;
    for (std::int64_t group = 0; group < extent.groups; ++group) {
      moments[group] = moving_moments(x, dx, extent.group(), norm.layer.epsilon);
      const std::int64_t first = extent.first_channel(group);
      for (std::int64_t c = 0; c < extent.channels; ++c) {
        prefetch(x + extent.plane, extent.plane);
        prefetch(dx + extent.plane, extent.plane);
        tangent_plane(at, extent.plane, x, dx, moments[group], first + c, tail.relu,
                      tail.pool == 0 ? out : scratch);
        if (tail.pool != 0) pool_plane<T>(scratch, extent.height, extent.width, tail.pool, out);
        x += extent.plane;
        dx += extent.plane;
        out += extent.pooled_plane;
      }
    }
  });
}

// A, its derivative, B and its derivative, times the size of the group.
struct Sums {
  double constant = 0, constant_tangent = 0, slope = 0, slope_tangent = 0;
};

template <typename T>
inline void add_channel(const Parameters<T>& at, std::int64_t plane, const T* x, const T* dx, const T* d,
                        const T* dd, const MovingMoments<T>& group, std::int64_t channel, Sums& sums) {
  const T mean = group.mean, mean_tangent = group.mean_tangent;
  const auto inverse = static_cast<double>(group.inverse), rate = static_cast<double>(group.rate);
  const auto weight = static_cast<double>(at.weight[channel]);
  const auto weight_tangent = static_cast<double>(at.weight_tangent[channel]);
  const double total = sum_of<T>(plane, [=](std::int64_t i) { return d[i]; });
  const double total_tangent = sum_of<T>(plane, [=](std::int64_t i) { return dd[i]; });
  const double product = sum_of<T>(plane, [=](std::int64_t i) { return d[i] * (x[i] - mean); });
  const double product_tangent =
      sum_of<T>(plane, [=](std::int64_t i) { return dd[i] * (x[i] - mean) + d[i] * (dx[i] - mean_tangent); });
  sums.constant += weight * total;
  sums.constant_tangent += weight_tangent * total + weight * total_tangent;
  sums.slope += inverse * weight * product;
  sums.slope_tangent += inverse * ((weight_tangent + rate * weight) * product + weight * product_tangent);
}

template <typename T>
void run_backward_tangent(const torch::Tensor& deltas, const torch::Tensor& delta_tangents,
                          const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                          const torch::Tensor& all_moments, const MovingNorm& norm, const torch::Tensor& to) {
  const Extent extent(inputs, norm);
  const Tail& tail = norm.tail;
  const Parameters<T> at(norm);
  const T *in = inputs.data_ptr<T>(), *in_tangent = input_tangents.data_ptr<T>();
  const T *delta = deltas.data_ptr<T>(), *delta_tangent = delta_tangents.data_ptr<T>();
  const auto* moments = reinterpret_cast<const MovingMoments<T>*>(all_moments.data_ptr<T>());
  T* out = to.data_ptr<T>();
  std::vector<T> two_groups(static_cast<std::size_t>(2 * extent.group()));
  T* scratch = two_groups.data();  // for what comes through the tail
  run_vectorised([&] {
    const std::int64_t plane = extent.plane;
    const auto size = static_cast<double>(extent.group());
    T* tangents = scratch + extent.group();
    const bool direct = !tail.relu && tail.pool == 0;
    for (std::int64_t group = 0; group < extent.groups; ++group) {
      const MovingMoments<T>& moving = moments[group];
      const std::int64_t first = extent.first_channel(group);
      const T *x = in + group * extent.group(), *dx = in_tangent + group * extent.group();
      Sums sums;
      for (std::int64_t c = 0; c < extent.channels; ++c) {
        const std::int64_t at_plane = c * plane;
        prefetch(x + at_plane + plane, plane);
        prefetch(dx + at_plane + plane, plane);
        const T scale = moving.inverse * at.weight[first + c], shift = at.bias[first + c];
        const auto through = [&](const T* from, T* place) {
          return through_tail(extent, tail, x + at_plane, moving.mean, scale, shift, from, place);
        };
        const T* d = through(delta + c * extent.pooled_plane, scratch + at_plane);
        const T* dd = through(delta_tangent + c * extent.pooled_plane, tangents + at_plane);
        add_channel(at, plane, x + at_plane, dx + at_plane, d, dd, moving, first + c, sums);
      }
      const auto [mean, inverse, mean_tangent, rate] = moving;
      const auto r = static_cast<double>(inverse), rho = static_cast<double>(rate);
      const auto constant = static_cast<T>(r * (sums.constant_tangent + rho * sums.constant) / size);
      const auto along_tangent = static_cast<T>(r * r * sums.slope / size);
      const auto along = static_cast<T>(r * r * (sums.slope_tangent + 2 * rho * sums.slope) / size);
      for (std::int64_t c = 0; c < extent.channels; ++c) {
        const T *d = (direct ? delta : scratch) + c * plane,
                *dd = (direct ? delta_tangent : tangents) + c * plane;
        const T scale = inverse * at.weight[first + c];
        const T turn = inverse * (at.weight_tangent[first + c] + rate * at.weight[first + c]);
        for (std::int64_t i = 0; i < plane; ++i) {
          out[i] = scale * dd[i] + turn * d[i] - constant - along_tangent * (dx[i] - mean_tangent) -
                   along * (x[i] - mean);
        }
        x += plane;
        dx += plane;
        out += plane;
      }
      delta += extent.channels * extent.pooled_plane;
      delta_tangent += extent.channels * extent.pooled_plane;
    }
  });
}

}  // namespace

NormTangent group_norm_tangent(const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                               const MovingNorm& norm) {
  NormTangent result{torch::empty(outputs_of(inputs, norm.tail), inputs.options()),
                     torch::empty({inputs.size(0), norm.layer.groups, kMoments}, inputs.options())};
  if (cuda::takes(inputs)) {
    cuda::group_norm_tangent(inputs, input_tangents, norm, result);
    return result;
  }
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "group_norm_tangent",
                             [&] { run_forward_tangent<scalar_t>(inputs, input_tangents, norm, result); });
  return result;
}

torch::Tensor group_norm_backward_tangent(const torch::Tensor& deltas, const torch::Tensor& delta_tangents,
                                          const torch::Tensor& inputs, const torch::Tensor& input_tangents,
                                          const torch::Tensor& moments, const MovingNorm& norm) {
  torch::Tensor result = torch::empty_like(inputs);
  if (cuda::takes(inputs)) {
    cuda::group_norm_backward_tangent(deltas, delta_tangents, inputs, input_tangents, moments, norm, result);
    return result;
  }
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "group_norm_backward_tangent", [&] {
    run_backward_tangent<scalar_t>(deltas, delta_tangents, inputs, input_tangents, moments, norm, result);
  });
  return result;
}

}  // namespace fedarena::kernels
