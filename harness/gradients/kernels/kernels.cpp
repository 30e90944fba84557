#include "harness/gradients/kernels/kernels.hpp"

#include <algorithm>
#include <array>

#include <ATen/Dispatch.h>

#include "harness/gradients/cuda/tensors.hpp"
#include "harness/gradients/kernels/pooling.hpp"
#include "harness/gradients/kernels/vectorised.hpp"

namespace fedarena::kernels {
torch::Tensor pool_planes(Pooling what, std::int64_t size, at::IntArrayRef shape, const torch::Tensor& inputs,
                          const torch::Tensor& from) {
  const torch::Tensor& any = from.defined() ? from : inputs;
  const std::int64_t height = shape[2], width = shape[3], whole = height * width;
  const std::int64_t pooled = (height / size) * (width / size);
  torch::Tensor result = is_adjoint(what)
                             ? torch::empty(shape, any.options())
                             : torch::empty({shape[0], shape[1], height / size, width / size}, any.options());
  if (cuda::takes(any)) {
    cuda::pool_planes(what, size, shape, inputs, from, result);
    return result;
  }
  AT_DISPATCH_FLOATING_TYPES(any.scalar_type(), "pool_planes", [&] {
    const auto* in = inputs.defined() ? inputs.data_ptr<scalar_t>() : nullptr;
    const auto* values = from.defined() ? from.data_ptr<scalar_t>() : nullptr;
    auto* out = result.data_ptr<scalar_t>();
    const auto for_planes = [&](const auto& body) {
      for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) body(plane * whole, plane * pooled);
    };
    run_vectorised([&] {
      switch (what) {
        case Pooling::kAverage:
          return for_planes([&](std::int64_t first, std::int64_t window) {
            pool_plane(values + first, height, width, size, out + window);
          });
        case Pooling::kAverageAdjoint:
          return for_planes([&](std::int64_t first, std::int64_t window) {
            unpool_plane(values + window, height, width, size, out + first);
          });
        case Pooling::kMax:
          return for_planes([&](std::int64_t first, std::int64_t window) {
            max_pool_plane(in + first, height, width, size, out + window);
          });
        case Pooling::kMaxTangent:
          return for_planes([&](std::int64_t first, std::int64_t window) {
            for_each_largest_of_plane(
                in + first, height, width, size,
                [&](std::int64_t at, std::int64_t index) { out[window + index] = values[first + at]; });
          });
        case Pooling::kMaxAdjoint:
          return for_planes([&](std::int64_t first, std::int64_t window) {
            std::fill_n(out + first, whole, scalar_t(0));
            for_each_largest_of_plane(
                in + first, height, width, size,
                [&](std::int64_t at, std::int64_t index) { out[first + at] = values[window + index]; });
          });
      }
    });
  });
  return result;
}

torch::Tensor squared_norms(const torch::Tensor& rows) {
  if (cuda::takes(rows)) return cuda::squared_norms(rows);
  torch::Tensor squared = torch::empty({rows.size(0)}, torch::kFloat64);
  const std::span results(squared.data_ptr<double>(), static_cast<std::size_t>(rows.size(0)));
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
  return squared;
}

const torch::Tensor& Factors::on(const torch::TensorOptions& options) const {
  if (!moved_.defined() || moved_.dtype() != options.dtype()) {
    moved_ = torch::tensor(values_, torch::kFloat64)
                 .to(options.dtype())
                 .to(options.device(), options.dtype(), /*non_blocking=*/true);
  }
  return moved_;
}

std::vector<double> to_vector(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.to(torch::kCPU, torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

double squared_norm(const torch::Tensor& tensor) { return squared_norms(tensor.unsqueeze(0)).item<double>(); }

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

void add_weighted_sum(const Factors& factors, const torch::Tensor& rows, const torch::Tensor& target) {
  if (cuda::takes(rows)) return cuda::add_weighted_sum(factors, rows, target);
  AT_DISPATCH_FLOATING_TYPES(target.scalar_type(), "add_weighted_sum", [&] {
    const auto* first = rows.data_ptr<scalar_t>();
    add_weighted<scalar_t>(
        factors, [&](std::size_t row) { return first + static_cast<std::int64_t>(row) * target.numel(); },
        target);
  });
}

}  // namespace fedarena::kernels
