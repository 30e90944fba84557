// Gradients in the weight, from transformed deltas and inputs.
#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "harness/gradients/kernels/products.hpp"
#include "harness/gradients/kernels/vectorised.hpp"
#include "harness/gradients/kernels/winograd.hpp"
#include "harness/gradients/kernels/winograd_transforms.hpp"

namespace fedarena::kernels {
namespace winograd {
namespace {

constexpr std::int64_t kAllTaps = kTaps * kTaps;

// Taps [9][count] from places [36][count]: the transposed map of that of filters.
template <typename T>
inline void places_to_taps(const Lines<const T>& places, std::int64_t count, const Lines<T>& taps,
                           std::vector<T>& scratch) {
  constexpr std::int64_t kIn = Four::kIn;
  scratch.resize(kIn * kTaps * kColumns);
  const Lines<T> half{scratch.data(), kColumns};  // [6][3][columns]
  for (std::int64_t begin = 0; begin < count; begin += kColumns) {
    const std::int64_t size = std::min(kColumns, count - begin);
    for (std::int64_t k = 0; k < kIn; ++k) {
      apply<kIn, kTaps>(Four::kFiltersTransposed, places.from(k * kIn * places.stride + begin),
                        half.from(k * kTaps * kColumns), size);
    }
    for (std::int64_t j = 0; j < kTaps; ++j) {
      apply<kIn, kTaps>(Four::kFiltersTransposed, Lines<const T>{half.data + j * kColumns, kTaps * kColumns},
                        Lines<T>{taps.data + j * taps.stride + begin, kTaps * taps.stride}, size);
    }
  }
}

}  // namespace
}  // namespace winograd

torch::Tensor weight_deltas_of_tiles(const torch::Tensor& deltas, const torch::Tensor& inputs) {
  const std::int64_t out = deltas.size(2), in = inputs.size(2);
  // Dense but for the places, so that taps come from one row.
  const torch::Tensor rows =
      torch::empty({places_of(Tile::kLarge), out * in + kGap}, deltas.options()).narrow(1, 0, out * in);
  multiply(deltas.transpose(1, 2), inputs, rows.view({rows.size(0), out, in}));
  torch::Tensor taps = torch::empty({winograd::kAllTaps, out, in}, deltas.options());
  AT_DISPATCH_FLOATING_TYPES(taps.scalar_type(), "weight_deltas_of_tiles", [&] {
    const winograd::Lines<const scalar_t> from{rows.data_ptr<scalar_t>(), rows.stride(0)};
    const winograd::Lines<scalar_t> to{taps.data_ptr<scalar_t>(), taps.stride(0)};
    std::vector<scalar_t> scratch;
    run_vectorised([&] { winograd::places_to_taps(from, out * in, to, scratch); });
  });
  return taps;
}

void add_taps(const torch::Tensor& taps, const torch::Tensor& weight) {
  AT_DISPATCH_FLOATING_TYPES(taps.scalar_type(), "add_taps", [&] {
    const auto* in = taps.data_ptr<scalar_t>();
    auto* out = weight.data_ptr<scalar_t>();
    const std::int64_t rows = taps.size(1), columns = taps.size(2);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t tap = 0; tap < winograd::kAllTaps; ++tap) {
        const scalar_t* from = in + (tap * rows + row) * columns;
        scalar_t* to = out + row * columns * winograd::kAllTaps + tap;
        for (std::int64_t column = 0; column < columns; ++column) {
          to[column * winograd::kAllTaps] += from[column];
        }
      }
    }
  });
}

}  // namespace fedarena::kernels
