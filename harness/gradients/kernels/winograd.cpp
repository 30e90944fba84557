#include "harness/gradients/kernels/winograd.hpp"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "harness/gradients/kernels/products.hpp"
#include "harness/gradients/kernels/transpose.hpp"
#include "harness/gradients/kernels/vectorised.hpp"
#include "harness/gradients/kernels/winograd_transforms.hpp"

namespace fedarena::kernels {
namespace {

using winograd::Four;
using winograd::kColumns;
using winograd::kTaps;
using winograd::Lines;
using winograd::Tiles;

// An image [height][width][channels], so that transforms work on many channels side by side.
template <typename T>
struct Image {
  T* data;
  std::int64_t height, width, channels;

  std::int64_t row() const { return width * channels; }
  T* at(std::int64_t y, std::int64_t x) const { return data + y * row() + x * channels; }
};

// Planes [channels][height][width] into an image, with `margin` zeros before them and zeros after them.
template <typename T>
inline void read_planes(const T* planes, std::int64_t height, std::int64_t width, std::int64_t margin,
                        const Image<T>& image) {
  std::fill_n(image.data, image.height * image.row(), T(0));
  for (std::int64_t y = 0; y < height; ++y) {
    transpose(planes + y * width, height * width, image.channels, width, image.at(y + margin, margin),
              image.channels);
  }
}

// The way back: what lies before and after is dropped.
template <typename T>
inline void write_planes(const Image<T>& image, std::int64_t margin, std::int64_t height, std::int64_t width,
                         T* planes) {
  for (std::int64_t y = 0; y < height; ++y) {
    transpose<T>(image.at(y + margin, margin), image.channels, width, image.channels, planes + y * width,
                 height * width);
  }
}

// Planes [examples][channels][height][width] whose tiles begin `margin` before them.
template <typename T>
struct Planes {
  T* data;
  std::int64_t channels, height, width, margin;

  T* example(std::int64_t i) const { return data + i * channels * height * width; }
};

// Tiles of From x From numbers of each map.
template <typename Side, std::int64_t From, typename Transform, typename T>
inline void maps_to_tiles(const Transform& transform, const Planes<const T>& maps, const TileGrid& grid,
                          const Tiles<T>& tiles, std::vector<T>& scratch) {
  constexpr std::int64_t kOut = Side::kOut, kIn = Side::kIn;
  const std::int64_t channels = maps.channels;
  Image<T> image{nullptr, (grid.rows - 1) * kOut + From, (grid.columns - 1) * kOut + From, channels};
  scratch.resize(static_cast<std::size_t>((image.height + kIn) * image.row()));
  image.data = scratch.data();
  const Lines<T> lines{image.data + image.height * image.row(), image.row()};
  T* out = tiles.data;
  for (std::int64_t i = 0; i < grid.examples; ++i) {
    read_planes(maps.example(i), maps.height, maps.width, maps.margin, image);
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      winograd::apply<From, kIn>(transform, Lines<const T>{image.at(row * kOut, 0), image.row()}, lines,
                                 image.row());
      for (std::int64_t column = 0; column < grid.columns; ++column, out += tiles.tile) {
        for (std::int64_t k = 0; k < kIn; ++k) {
          const T* line = lines.data + k * lines.stride + column * kOut * channels;
          winograd::apply<From, kIn>(transform, Lines<const T>{line, channels},
                                     Lines<T>{out + k * kIn * tiles.place, tiles.place}, channels);
        }
      }
    }
  }
}

// The sum of tiles of To x To numbers and of a number for each channel.
template <typename Side, std::int64_t To, typename Transform, typename T>
inline void tiles_to_maps(const Transform& transform, const Tiles<const T>& tiles, const TileGrid& grid,
                          const T* constants, const Planes<T>& maps, std::vector<T>& scratch) {
  constexpr std::int64_t kOut = Side::kOut, kIn = Side::kIn;
  const std::int64_t channels = maps.channels;
  Image<T> image{nullptr, (grid.rows - 1) * kOut + To, (grid.columns - 1) * kOut + To, channels};
  scratch.resize(static_cast<std::size_t>(image.height * image.row() + To * (kIn + 1) * channels));
  image.data = scratch.data();
  const Lines<T> half{image.data + image.height * image.row(), kIn * channels};  // [To][kIn][channels]
  const Lines<T> whole{half.data + To * half.stride, channels};                  // [To][channels]
  const T* in = tiles.data;
  for (std::int64_t i = 0; i < grid.examples; ++i) {
    for (std::int64_t p = 0; p < image.height * image.width; ++p) {
      std::copy_n(constants, channels, image.data + p * channels);
    }
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      for (std::int64_t column = 0; column < grid.columns; ++column, in += tiles.tile) {
        for (std::int64_t k = 0; k < kIn; ++k) {
          winograd::apply<kIn, To>(transform, Lines<const T>{in + k * tiles.place, kIn * tiles.place},
                                   half.from(k * channels), channels);
        }
        for (std::int64_t y = 0; y < To; ++y) {
          winograd::apply<kIn, To>(transform, Lines<const T>{half.data + y * half.stride, channels}, whole,
                                   channels);
          T* out = image.at(row * kOut + y, column * kOut);
          for (std::int64_t c = 0; c < To * channels; ++c) out[c] += whole.data[c];
        }
      }
    }
    write_planes(image, maps.margin, maps.height, maps.width, maps.example(i));
  }
}

// A weight as kernels [rows][columns], nine taps each, one beside the other.
template <typename T>
struct Kernels {
  const T* data;
  std::int64_t rows, columns, row, column;  // sizes, and steps in memory
};

// Filters [places][rows][columns], some columns at a time in the innermost cache.
template <typename Side, typename T>
inline void kernels_to_places(const Kernels<T>& kernels, const Tiles<T>& filters, std::vector<T>& scratch) {
  constexpr std::int64_t kIn = Side::kIn;
  scratch.resize((kTaps + kIn) * kTaps * kColumns);
  const Lines<T> taps{scratch.data(), kTaps * kColumns};              // [3][3][columns]
  const Lines<T> half{taps.data + kTaps * taps.stride, taps.stride};  // [kIn][3][columns]
  for (std::int64_t row = 0; row < kernels.rows; ++row) {
    for (std::int64_t begin = 0; begin < kernels.columns; begin += kColumns) {
      const std::int64_t size = std::min(kColumns, kernels.columns - begin);
      for (std::int64_t column = 0; column < size; ++column) {
        const T* kernel = kernels.data + row * kernels.row + (begin + column) * kernels.column;
        for (std::int64_t tap = 0; tap < kTaps * kTaps; ++tap) {
          taps.data[tap * kColumns + column] = kernel[tap];
        }
      }
      for (std::int64_t j = 0; j < kTaps; ++j) {
        winograd::apply<kTaps, kIn>(Side::kFilters, Lines<const T>{taps.data + j * kColumns, taps.stride},
                                    half.from(j * kColumns), size);
      }
      T* out = filters.data + row * filters.tile + begin;
      for (std::int64_t k = 0; k < kIn; ++k) {
        winograd::apply<kTaps, kIn>(Side::kFilters, Lines<const T>{half.data + k * half.stride, kColumns},
                                    Lines<T>{out + k * kIn * filters.place, filters.place}, size);
      }
    }
  }
}

// body(Side(), T()) for so many places of a tile and numbers of that type, compiled for wide registers too.
template <typename Body>
void for_tiles(std::int64_t places, torch::ScalarType type, const Body& body) {
  AT_DISPATCH_FLOATING_TYPES(type, "tiles", [&] {
    if (places == places_of(Tile::kSmall)) {
      run_vectorised([&] { body(winograd::Two(), scalar_t()); });
    } else {
      run_vectorised([&] { body(winograd::Four(), scalar_t()); });
    }
  });
}

// `kernels` [rows, columns, 3, 3], a weight with its dimensions in the order in which the filters lie.
void transform_kernels(const torch::Tensor& kernels, const torch::Tensor& transformed) {
  for_tiles(transformed.size(0), kernels.scalar_type(),
            [&]<typename Side, typename T>(Side /*side*/, T /*type*/) {
              const Kernels<T> from{kernels.data_ptr<T>(), kernels.size(0), kernels.size(1),
                                    kernels.stride(0), kernels.stride(1)};
              std::vector<T> scratch;
              kernels_to_places<Side>(from, Tiles<T>(transformed), scratch);
            });
}

}  // namespace

TileGrid::TileGrid(const Conv2d& layer, std::int64_t examples, std::int64_t height, std::int64_t width,
                   Tile tile)
    : tile(tile),
      examples(examples),
      height(height),
      width(width),
      padding(layer.padding),
      out_height(height + 2 * layer.padding - kTaps + 1),
      out_width(width + 2 * layer.padding - kTaps + 1),
      rows((out_height + side_of(tile) - 1) / side_of(tile)),
      columns((out_width + side_of(tile) - 1) / side_of(tile)) {}

double TileGrid::saving() const {
  return static_cast<double>(kTaps * kTaps * out_height * out_width) /
         static_cast<double>(places_of(tile) * rows * columns);
}

bool prefer_tiles(const Conv2d& layer, const torch::Tensor& inputs) {
  constexpr std::int64_t kManyChannels = 16;
  constexpr std::int64_t kManyTiles = 16;
  constexpr double kWorthwhile = 2;
  if (layer.kernel != kTaps || layer.stride != 1 || layer.in < kManyChannels || layer.out < kManyChannels)
    return false;
  const TileGrid grid(layer, inputs.size(0), inputs.size(2), inputs.size(3));
  return grid.tiles() >= kManyTiles && grid.saving() >= kWorthwhile;
}

torch::Tensor places(Tile tile, std::int64_t rows, std::int64_t columns,
                     const torch::TensorOptions& options) {
  const std::int64_t row = columns + kGap;
  return torch::empty({places_of(tile), rows * row + kGap}, options)
      .narrow(1, 0, rows * row)
      .view({places_of(tile), rows, row})
      .narrow(2, 0, columns);
}

torch::Tensor products_of_places(Tile tile, const torch::Tensor& left, const torch::Tensor& right) {
  torch::Tensor products = places(tile, left.size(1), right.size(2), left.options());
  multiply(left, right, products);
  return products;
}

void transform_filters(const torch::Tensor& weight, const torch::Tensor& transformed) {
  transform_kernels(weight.transpose(0, 1), transformed);
}

void transform_adjoint_filters(const torch::Tensor& weight, const torch::Tensor& transformed) {
  transform_kernels(weight, transformed);
}

void transform_inputs(const torch::Tensor& inputs, const TileGrid& grid, const torch::Tensor& transformed) {
  for_tiles(places_of(grid.tile), inputs.scalar_type(),
            [&]<typename Side, typename T>(Side /*side*/, T /*type*/) {
              const Planes<const T> maps{inputs.data_ptr<T>(), inputs.size(1), grid.height, grid.width,
                                         grid.padding};
              std::vector<T> scratch;
              maps_to_tiles<Side, Side::kIn>(Side::kInputs, maps, grid, Tiles<T>(transformed), scratch);
            });
}

torch::Tensor outputs_of_tiles(const torch::Tensor& transformed, const TileGrid& grid,
                               const torch::Tensor& bias) {
  torch::Tensor outputs = torch::empty({grid.examples, transformed.size(2), grid.out_height, grid.out_width},
                                       transformed.options());
  for_tiles(
      places_of(grid.tile), outputs.scalar_type(), [&]<typename Side, typename T>(Side /*side*/, T /*type*/) {
        const Planes<T> maps{outputs.data_ptr<T>(), transformed.size(2), grid.out_height, grid.out_width,
                             /*margin=*/0};
        std::vector<T> scratch;
        tiles_to_maps<Side, Side::kOut>(Side::kOutputs, Tiles<const T>(transformed), grid, bias.data_ptr<T>(),
                                        maps, scratch);
      });
  return outputs;
}

void transform_deltas(const torch::Tensor& deltas, const TileGrid& grid, const torch::Tensor& transformed) {
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "transform_deltas", [&] {
    const Planes<const scalar_t> maps{deltas.data_ptr<scalar_t>(), deltas.size(1), grid.out_height,
                                      grid.out_width,
                                      /*margin=*/0};
    std::vector<scalar_t> scratch;
    run_vectorised([&] {
      maps_to_tiles<Four, Four::kOut>(Four::kOutputsTransposed, maps, grid, Tiles<scalar_t>(transformed),
                                      scratch);
    });
  });
}

torch::Tensor input_deltas_of_tiles(const torch::Tensor& transformed, const TileGrid& grid) {
  const std::int64_t channels = transformed.size(2);
  torch::Tensor deltas =
      torch::empty({grid.examples, channels, grid.height, grid.width}, transformed.options());
  AT_DISPATCH_FLOATING_TYPES(transformed.scalar_type(), "input_deltas_of_tiles", [&] {
    const Planes<scalar_t> maps{deltas.data_ptr<scalar_t>(), channels, grid.height, grid.width, grid.padding};
    const std::vector<scalar_t> zeros(static_cast<std::size_t>(channels));
    std::vector<scalar_t> scratch;
    run_vectorised([&] {
      tiles_to_maps<Four, Four::kIn>(Four::kInputsTransposed, Tiles<const scalar_t>(transformed), grid,
                                     zeros.data(), maps, scratch);
    });
  });
  return deltas;
}

}  // namespace fedarena::kernels
