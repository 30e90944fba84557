#include "harness/gradients/kernels/kernels.hpp"

#include <algorithm>
#include <array>

#include <ATen/Dispatch.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/kernels/pooling.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

namespace fedarena::kernels {
torch::Tensor average_pool(const torch::Tensor& inputs, std::int64_t size) {
  if (cuda::takes(inputs)) return cuda::average_pool(inputs, size);
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
  if (cuda::takes(deltas)) return cuda::average_pool_adjoint(deltas, size, height, width);
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
  if (cuda::takes(inputs)) return cuda::max_pool(inputs, size);
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
  if (cuda::takes(inputs)) return cuda::max_pool_tangent(inputs, tangents, size);
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
  if (cuda::takes(inputs)) return cuda::max_pool_adjoint(inputs, deltas, size);
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
  if (cuda::takes(rows)) return to_vector(cuda::squared_norms(rows));
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

std::vector<double> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.to(torch::kCPU, torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

double squared_norm(const torch::Tensor& tensor) { return squared_norms(tensor.unsqueeze(0)).front(); }

namespace {

// A row of held gradients and its factor.
template <typename T>
struct Weighted {
  T factor;
  const T* row;
};

// Several rows at a time, so that memory has several to deliver; each number's sum is added up row by row.
template <typename T>
inline void add_rows(const std::vector<Weighted<T>>& rows, T* out, std::int64_t count) {
  constexpr int kRowsAtOnce = 8;
  if (rows.empty()) return;
  in_pieces<kRowsAtOnce>(static_cast<std::int64_t>(rows.size()), [&]<int Rows>(std::int64_t first) {
    std::array<Weighted<T>, Rows> own;
    std::copy_n(rows.begin() + first, Rows, own.begin());
    for (std::int64_t i = 0; i < count; ++i) {
      T sum = out[i];
      for (int row = 0; row < Rows; ++row) sum += own[row].factor * own[row].row[i];
      out[i] = sum;
    }
  });
}

// Those of rows whose factor is not zero.
template <typename T, typename RowOf>
void add_weighted(std::span<const double> factors, const RowOf& row_of, const torch::Tensor& target) {
  std::vector<Weighted<T>> rows;
  for (std::size_t row = 0; row < factors.size(); ++row) {
    const auto factor = static_cast<T>(factors[row]);
    if (factor != 0) rows.push_back({factor, row_of(row)});
  }
  auto* out = target.data_ptr<T>();
  const std::int64_t count = target.numel();
  run_vectorised([&] { add_rows(rows, out, count); });
}

}  // namespace

void add_weighted_sum(std::span<const double> factors, const std::vector<torch::Tensor>& rows,
                      const torch::Tensor& target) {
  AT_DISPATCH_FLOATING_TYPES(target.scalar_type(), "add_weighted_sum", [&] {
    add_weighted<scalar_t>(
        factors, [&](std::size_t row) { return rows[row].template data_ptr<scalar_t>(); }, target);
  });
}

void add_weighted_sum(std::span<const double> factors, const torch::Tensor& rows,
                      const torch::Tensor& target) {
  if (cuda::takes(rows)) return cuda::add_weighted_sum(factors, rows, target);
  AT_DISPATCH_FLOATING_TYPES(target.scalar_type(), "add_weighted_sum", [&] {
    const auto* first = rows.data_ptr<scalar_t>();
    add_weighted<scalar_t>(
        factors, [&](std::size_t row) { return first + static_cast<std::int64_t>(row) * target.numel(); },
        target);
  });
}

}  // namespace fedarena::kernels
