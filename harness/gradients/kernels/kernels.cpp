#include "harness/gradients/kernels/kernels.hpp"

#include <algorithm>
#include <array>

#include <ATen/Dispatch.h>

#include "harness/gradients/kernels/pooling.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

namespace fedarena::kernels {
torch::Tensor average_pool(const torch::Tensor& inputs, std::int64_t size) {
  const std::int64_t in_height = inputs.size(2);
  const std::int64_t in_width = inputs.size(3);
  const std::int64_t height = in_height / size;
  const std::int64_t width = in_width / size;
  const std::int64_t planes = inputs.size(0) * inputs.size(1);
  torch::Tensor outputs = torch::empty({inputs.size(0), inputs.size(1), height, width}, inputs.options());
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "average_pool", [&] {
    const auto* in = inputs.data_ptr<scalar_t>();
    auto* out = outputs.data_ptr<scalar_t>();
    run_vectorised([&] {
      for (std::int64_t plane = 0; plane < planes; ++plane) {
        pool_plane(in + plane * in_height * in_width, in_height, in_width, size,
                   out + plane * height * width);
      }
    });
  });
  return outputs;
}

torch::Tensor average_pool_adjoint(const torch::Tensor& deltas, std::int64_t size, std::int64_t height,
                                   std::int64_t width) {
  const std::int64_t out_plane = deltas.size(2) * deltas.size(3);
  const std::int64_t planes = deltas.size(0) * deltas.size(1);
  torch::Tensor result = torch::empty({deltas.size(0), deltas.size(1), height, width}, deltas.options());
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "average_pool_adjoint", [&] {
    const auto* delta = deltas.data_ptr<scalar_t>();
    auto* out = result.data_ptr<scalar_t>();
    run_vectorised([&] {
      for (std::int64_t plane = 0; plane < planes; ++plane) {
        unpool_plane(delta + plane * out_plane, height, width, size, out + plane * height * width);
      }
    });
  });
  return result;
}

torch::Tensor max_pool(const torch::Tensor& inputs, std::int64_t size) {
  const std::int64_t height = inputs.size(2);
  const std::int64_t width = inputs.size(3);
  torch::Tensor outputs =
      torch::empty({inputs.size(0), inputs.size(1), height / size, width / size}, inputs.options());
  const std::int64_t out_plane = outputs.size(2) * outputs.size(3);
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "max_pool", [&] {
    const auto* in = inputs.data_ptr<scalar_t>();
    auto* out = outputs.data_ptr<scalar_t>();
    run_vectorised([&] {
      for (std::int64_t plane = 0; plane < inputs.size(0) * inputs.size(1); ++plane) {
        max_pool_plane(in + plane * height * width, height, width, size, out + plane * out_plane);
      }
    });
  });
  return outputs;
}

namespace {

// use(position in inputs, index of the window) for all windows of all planes.
template <typename T, typename Use>
void for_each_largest(const torch::Tensor& inputs, std::int64_t size, const Use& use) {
  const std::int64_t height = inputs.size(2);
  const std::int64_t width = inputs.size(3);
  const std::int64_t out_plane = (height / size) * (width / size);
  for (std::int64_t plane = 0; plane < inputs.size(0) * inputs.size(1); ++plane) {
    const std::int64_t first = plane * height * width;
    for_each_largest_of_plane(
        inputs.data_ptr<T>() + first, height, width, size,
        [&](std::int64_t position, std::int64_t index) { use(first + position, plane * out_plane + index); });
  }
}

}  // namespace

torch::Tensor max_pool_tangent(const torch::Tensor& inputs, const torch::Tensor& tangents,
                               std::int64_t size) {
  torch::Tensor result = torch::empty(
      {inputs.size(0), inputs.size(1), inputs.size(2) / size, inputs.size(3) / size}, inputs.options());
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "max_pool_tangent", [&] {
    const auto* tangent = tangents.data_ptr<scalar_t>();
    auto* out = result.data_ptr<scalar_t>();
    for_each_largest<scalar_t>(
        inputs, size, [&](std::int64_t position, std::int64_t index) { out[index] = tangent[position]; });
  });
  return result;
}

torch::Tensor max_pool_adjoint(const torch::Tensor& inputs, const torch::Tensor& deltas, std::int64_t size) {
  torch::Tensor result = torch::zeros_like(inputs);
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "max_pool_adjoint", [&] {
    const auto* delta = deltas.data_ptr<scalar_t>();
    auto* out = result.data_ptr<scalar_t>();
    for_each_largest<scalar_t>(
        inputs, size, [&](std::int64_t position, std::int64_t index) { out[position] = delta[index]; });
  });
  return result;
}

std::vector<double> squared_norms(const torch::Tensor& rows) {
  std::vector<double> results(static_cast<std::size_t>(rows.size(0)));
  const std::int64_t size = rows.numel() / std::max<std::int64_t>(1, rows.size(0));
  AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "squared_norms", [&] {
    const auto* values = rows.data_ptr<scalar_t>();
    run_vectorised([&] {
      for (std::size_t row = 0; row < results.size(); ++row) {
        const scalar_t* start = values + static_cast<std::int64_t>(row) * size;
        results[row] = sum_of<double>(size, [start](std::int64_t i) {
          const auto value = static_cast<double>(start[i]);
          return value * value;
        });
      }
    });
  });
  return results;
}

double squared_norm(const torch::Tensor& tensor) { return squared_norms(tensor.unsqueeze(0)).front(); }

namespace {

template <typename T>
inline void add_rows(std::span<const double> factors, const std::vector<const T*>& rows, T* out,
                     std::int64_t count) {
  std::array<T, kChunk> sums{};  // stays in the innermost cache while the rows pass
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t size = std::min(kChunk, count - begin);
    std::copy_n(out + begin, size, sums.begin());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto factor = static_cast<T>(factors[row]);
      if (factor == 0) continue;
      const T* values = rows[row] + begin;
      for (std::int64_t i = 0; i < size; ++i) sums[i] += factor * values[i];
    }
    std::copy_n(sums.begin(), size, out + begin);
  }
}

}  // namespace

void add_weighted_sum(std::span<const double> factors, const std::vector<torch::Tensor>& rows,
                      const torch::Tensor& target) {
  AT_DISPATCH_FLOATING_TYPES(target.scalar_type(), "add_weighted_sum", [&] {
    std::vector<const scalar_t*> starts;
    for (const torch::Tensor& row : rows) starts.push_back(row.template data_ptr<scalar_t>());
    auto* out = target.data_ptr<scalar_t>();
    const std::int64_t count = target.numel();
    run_vectorised([&] { add_rows(factors, starts, out, count); });
  });
}

void add_weighted_sum(std::span<const double> factors, const torch::Tensor& rows,
                      const torch::Tensor& target) {
  AT_DISPATCH_FLOATING_TYPES(target.scalar_type(), "add_weighted_sum", [&] {
    std::vector<const scalar_t*> starts;
    for (std::size_t row = 0; row < factors.size(); ++row) {
      starts.push_back(rows.data_ptr<scalar_t>() + static_cast<std::int64_t>(row) * target.numel());
    }
    auto* out = target.data_ptr<scalar_t>();
    const std::int64_t count = target.numel();
    run_vectorised([&] { add_rows(factors, starts, out, count); });
  });
}

}  // namespace fedarena::kernels
