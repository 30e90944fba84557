#include "harness/gradients/winograd.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "harness/gradients/vectorised.hpp"

namespace fedarena::kernels {
namespace {

constexpr std::int64_t kTaps = 3;  // of a kernel in each direction
constexpr std::int64_t kOut = 4;   // outputs of a tile in each direction
constexpr std::int64_t kIn = 6;    // inputs that they depend on, and places of a transformed tile

// The transforms in one direction. Polynomials are interpolated at 0, +-1, +-2
// and infinity.
struct Filters {  // 3 taps to 6 places
  template <typename T>
  static void apply(const std::array<T, kTaps>& x, std::array<T, kIn>& y) {
    const T near = (x[0] + x[2]) * T(-1. / 6);
    const T far = x[0] * T(1. / 24) + x[2] * T(1. / 6);
    y[0] = x[0] * T(0.25);
    y[1] = near - x[1] * T(1. / 6);
    y[2] = near + x[1] * T(1. / 6);
    y[3] = far + x[1] * T(1. / 12);
    y[4] = far - x[1] * T(1. / 12);
    y[5] = x[2];
  }
};

struct Inputs {  // 6 inputs to 6 places
  template <typename T>
  static void apply(const std::array<T, kIn>& x, std::array<T, kIn>& y) {
    const T even_near = x[4] - 4 * x[2], odd_near = x[3] - 4 * x[1];
    const T even_far = x[4] - x[2], odd_far = 2 * (x[3] - x[1]);
    y[0] = 4 * x[0] - 5 * x[2] + x[4];
    y[1] = even_near + odd_near;
    y[2] = even_near - odd_near;
    y[3] = even_far + odd_far;
    y[4] = even_far - odd_far;
    y[5] = 4 * x[1] - 5 * x[3] + x[5];
  }
};

struct InputsTransposed {  // 6 places to 6 inputs
  template <typename T>
  static void apply(const std::array<T, kIn>& y, std::array<T, kIn>& x) {
    const T even_near = y[1] + y[2], odd_near = y[1] - y[2];
    const T even_far = y[3] + y[4], odd_far = 2 * (y[3] - y[4]);
    x[0] = 4 * y[0];
    x[1] = 4 * (y[5] - odd_near) - odd_far;
    x[2] = -5 * y[0] - 4 * even_near - even_far;
    x[3] = odd_near + odd_far - 5 * y[5];
    x[4] = y[0] + even_near + even_far;
    x[5] = y[5];
  }
};

struct Outputs {  // 6 places to 4 outputs
  template <typename T>
  static void apply(const std::array<T, kIn>& y, std::array<T, kOut>& x) {
    const T even_near = y[1] + y[2], odd_near = y[1] - y[2];
    const T even_far = y[3] + y[4], odd_far = 2 * (y[3] - y[4]);
    x[0] = y[0] + even_near + even_far;
    x[1] = odd_near + odd_far;
    x[2] = even_near + 4 * even_far;
    x[3] = odd_near + 4 * odd_far + y[5];
  }
};

struct OutputsTransposed {  // 4 outputs to 6 places
  template <typename T>
  static void apply(const std::array<T, kOut>& x, std::array<T, kIn>& y) {
    const T even_near = x[0] + x[2], odd_near = x[1] + x[3];
    const T even_far = x[0] + 4 * x[2], odd_far = 2 * (x[1] + 4 * x[3]);
    y[0] = x[0];
    y[1] = even_near + odd_near;
    y[2] = even_near - odd_near;
    y[3] = even_far + odd_far;
    y[4] = even_far - odd_far;
    y[5] = x[3];
  }
};

// Numbers lie in lines, `stride` apart.
template <typename T>
struct Lines {
  T* data;
  std::int64_t stride;

  Lines from(std::int64_t offset) const { return {data + offset, stride}; }
};

// One direction of a transform, on `count` columns of From lines into To lines.
template <typename Transform, std::int64_t From, std::int64_t To, typename T>
inline void apply(const Lines<const T>& in, const Lines<T>& out, std::int64_t count) {
  const auto one = [&in](std::int64_t column, std::array<T, To>& results) {
    std::array<T, From> numbers{};
    for (std::int64_t j = 0; j < From; ++j) numbers[j] = in.data[j * in.stride + column];
    Transform::apply(numbers, results);
  };
  std::int64_t column = 0;
  for (; column + kLanes <= count; column += kLanes) {
    T block[To][kLanes];  // of its own, so that compilers see that nothing overlaps
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      std::array<T, To> results{};
      one(column + lane, results);
      for (std::int64_t k = 0; k < To; ++k) block[k][lane] = results[k];
    }
    for (std::int64_t k = 0; k < To; ++k) std::copy_n(block[k], kLanes, out.data + k * out.stride + column);
  }
  for (; column < count; ++column) {
    std::array<T, To> results{};
    one(column, results);
    for (std::int64_t k = 0; k < To; ++k) out.data[k * out.stride + column] = results[k];
  }
}

// An image [height][width][channels], so that transforms work on many channels
// side by side.
template <typename T>
struct Image {
  T* data;
  std::int64_t height, width, channels;

  std::int64_t row() const { return width * channels; }
  T* at(std::int64_t y, std::int64_t x) const { return data + y * row() + x * channels; }
};

// Planes [channels][height][width] into an image, with `margin` zeros before
// them and zeros after them.
template <typename T>
inline void read_planes(const T* planes, std::int64_t height, std::int64_t width, std::int64_t margin,
                        const Image<T>& image) {
  std::fill_n(image.data, image.height * image.row(), T(0));
  for (std::int64_t y = 0; y < height; ++y) {
    T* out = image.at(y + margin, margin);
    for (std::int64_t c = 0; c < image.channels; ++c) {
      const T* in = planes + (c * height + y) * width;
      for (std::int64_t x = 0; x < width; ++x) out[x * image.channels + c] = in[x];
    }
  }
}

// The way back: what lies before and after is dropped.
template <typename T>
inline void write_planes(const Image<T>& image, std::int64_t margin, std::int64_t height, std::int64_t width,
                         T* planes) {
  for (std::int64_t y = 0; y < height; ++y) {
    const T* in = image.at(y + margin, margin);
    for (std::int64_t c = 0; c < image.channels; ++c) {
      T* out = planes + (c * height + y) * width;
      for (std::int64_t x = 0; x < width; ++x) out[x] = in[x * image.channels + c];
    }
  }
}

// Maps [examples][channels][height][width] whose tiles begin `margin` before
// them.
template <typename T>
struct Maps {
  T* data;
  std::int64_t channels, height, width, margin;

  T* example(std::int64_t i) const { return data + i * channels * height * width; }
};

// Transformed tiles [36][tiles][channels].
template <typename T>
struct Tiles {
  T* data;
  std::int64_t place, tile;  // strides

  explicit Tiles(const torch::Tensor& tensor)
      : data(tensor.data_ptr<std::remove_const_t<T>>()), place(tensor.stride(0)), tile(tensor.stride(1)) {}
};

// Tiles of From x From numbers, four apart, of each map.
template <typename Transform, std::int64_t From, typename T>
inline void maps_to_tiles(const Maps<const T>& maps, const TileGrid& grid, const Tiles<T>& tiles,
                          std::vector<T>& scratch) {
  const std::int64_t channels = maps.channels;
  Image<T> image{nullptr, (grid.rows - 1) * kOut + From, (grid.columns - 1) * kOut + From, channels};
  scratch.resize(static_cast<std::size_t>((image.height + kIn) * image.row()));
  image.data = scratch.data();
  const Lines<T> lines{image.data + image.height * image.row(), image.row()};
  T* out = tiles.data;
  for (std::int64_t i = 0; i < grid.examples; ++i) {
    read_planes(maps.example(i), maps.height, maps.width, maps.margin, image);
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      apply<Transform, From, kIn>(Lines<const T>{image.at(row * kOut, 0), image.row()}, lines, image.row());
      for (std::int64_t column = 0; column < grid.columns; ++column, out += tiles.tile) {
        for (std::int64_t k = 0; k < kIn; ++k) {
          const T* line = lines.data + k * lines.stride + column * kOut * channels;
          apply<Transform, From, kIn>(Lines<const T>{line, channels},
                                      Lines<T>{out + k * kIn * tiles.place, tiles.place}, channels);
        }
      }
    }
  }
}

// The sum of tiles of To x To numbers, four apart, and of a number for each
// channel.
template <typename Transform, std::int64_t To, typename T>
inline void tiles_to_maps(const Tiles<const T>& tiles, const TileGrid& grid, const T* constants,
                          const Maps<T>& maps, std::vector<T>& scratch) {
  const std::int64_t channels = maps.channels;
  Image<T> image{nullptr, (grid.rows - 1) * kOut + To, (grid.columns - 1) * kOut + To, channels};
  scratch.resize(static_cast<std::size_t>(image.height * image.row() + To * (kIn + 1) * channels));
  image.data = scratch.data();
  const Lines<T> half{image.data + image.height * image.row(), kIn * channels};  // [To][6][channels]
  const Lines<T> whole{half.data + To * half.stride, channels};                  // [To][channels]
  const T* in = tiles.data;
  for (std::int64_t i = 0; i < grid.examples; ++i) {
    for (std::int64_t p = 0; p < image.height * image.width; ++p) {
      std::copy_n(constants, channels, image.data + p * channels);
    }
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      for (std::int64_t column = 0; column < grid.columns; ++column, in += tiles.tile) {
        for (std::int64_t k = 0; k < kIn; ++k) {
          apply<Transform, kIn, To>(Lines<const T>{in + k * tiles.place, kIn * tiles.place},
                                    half.from(k * channels), channels);
        }
        for (std::int64_t y = 0; y < To; ++y) {
          apply<Transform, kIn, To>(Lines<const T>{half.data + y * half.stride, channels}, whole, channels);
          T* out = image.at(row * kOut + y, column * kOut);
          for (std::int64_t c = 0; c < To * channels; ++c) out[c] += whole.data[c];
        }
      }
    }
    write_planes(image, maps.margin, maps.height, maps.width, maps.example(i));
  }
}

// Filters [36][count] from taps [9][count], in the innermost cache.
template <typename T>
inline void taps_to_places(const T* taps, std::int64_t count, const Lines<T>& places,
                           std::vector<T>& scratch) {
  constexpr std::int64_t kColumns = 512;  // at a time
  scratch.resize(kIn * kTaps * kColumns);
  const Lines<T> half{scratch.data(), kTaps * kColumns};  // [6][3][columns]
  for (std::int64_t begin = 0; begin < count; begin += kColumns) {
    const std::int64_t size = std::min(kColumns, count - begin);
    for (std::int64_t j = 0; j < kTaps; ++j) {
      apply<Filters, kTaps, kIn>(Lines<const T>{taps + j * count + begin, kTaps * count},
                                 half.from(j * kColumns), size);
    }
    for (std::int64_t k = 0; k < kIn; ++k) {
      apply<Filters, kTaps, kIn>(Lines<const T>{half.data + k * half.stride, kColumns},
                                 Lines<T>{places.data + k * kIn * places.stride + begin, places.stride},
                                 size);
    }
  }
}

// `weight` as taps [3, 3, ...], in the order in which the filters lie.
void transform_taps(const torch::Tensor& weight, const torch::Tensor& transformed) {
  const torch::Tensor taps = weight.contiguous();
  AT_DISPATCH_FLOATING_TYPES(taps.scalar_type(), "transform_filters", [&] {
    const auto* in = taps.data_ptr<scalar_t>();
    const Lines<scalar_t> out{transformed.data_ptr<scalar_t>(), transformed.stride(0)};
    std::vector<scalar_t> scratch;
    run_vectorised([&] { taps_to_places(in, taps.numel() / (kTaps * kTaps), out, scratch); });
  });
}

}  // namespace

TileGrid::TileGrid(const Conv2d& layer, std::int64_t examples, std::int64_t height, std::int64_t width)
    : examples(examples),
      height(height),
      width(width),
      padding(layer.padding),
      out_height(height + 2 * layer.padding - kTaps + 1),
      out_width(width + 2 * layer.padding - kTaps + 1),
      rows((out_height + kOut - 1) / kOut),
      columns((out_width + kOut - 1) / kOut) {}

double TileGrid::saving() const {
  return static_cast<double>(kTaps * kTaps * out_height * out_width) /
         static_cast<double>(kIn * kIn * rows * columns);
}

bool prefer_tiles(const Conv2d& layer, const torch::Tensor& inputs) {
  constexpr std::int64_t kManyChannels = 16;
  constexpr std::int64_t kManyTiles = 16;
  constexpr double kWorthwhile = 2;
  if (layer.kernel != kTaps || layer.in < kManyChannels || layer.out < kManyChannels) return false;
  const TileGrid grid(layer, inputs.size(0), inputs.size(2), inputs.size(3));
  return grid.tiles() >= kManyTiles && grid.saving() >= kWorthwhile;
}

torch::Tensor places(std::int64_t rows, std::int64_t columns, const torch::TensorOptions& options) {
  // A power of two between places would put all of them into the same few lines of a cache.
  constexpr std::int64_t kGap = 16;
  return torch::empty({kIn * kIn, rows * columns + kGap}, options)
      .narrow(1, 0, rows * columns)
      .view({kIn * kIn, rows, columns});
}

void transform_filters(const torch::Tensor& weight, const torch::Tensor& transformed) {
  transform_taps(weight.permute({2, 3, 1, 0}), transformed);
}

void transform_adjoint_filters(const torch::Tensor& weight, const torch::Tensor& transformed) {
  transform_taps(weight.permute({2, 3, 0, 1}), transformed);
}

void transform_inputs(const torch::Tensor& inputs, const TileGrid& grid, const torch::Tensor& transformed) {
  AT_DISPATCH_FLOATING_TYPES(inputs.scalar_type(), "transform_inputs", [&] {
    const Maps<const scalar_t> maps{inputs.data_ptr<scalar_t>(), inputs.size(1), grid.height, grid.width,
                                    grid.padding};
    std::vector<scalar_t> scratch;
    run_vectorised([&] { maps_to_tiles<Inputs, kIn>(maps, grid, Tiles<scalar_t>(transformed), scratch); });
  });
}

torch::Tensor outputs_of_tiles(const torch::Tensor& transformed, const TileGrid& grid,
                               const torch::Tensor& bias) {
  torch::Tensor outputs = torch::empty({grid.examples, transformed.size(2), grid.out_height, grid.out_width},
                                       transformed.options());
  AT_DISPATCH_FLOATING_TYPES(transformed.scalar_type(), "outputs_of_tiles", [&] {
    const Maps<scalar_t> maps{outputs.data_ptr<scalar_t>(), transformed.size(2), grid.out_height,
                              grid.out_width, /*margin=*/0};
    std::vector<scalar_t> scratch;
    run_vectorised([&] {
      tiles_to_maps<Outputs, kOut>(Tiles<const scalar_t>(transformed), grid, bias.data_ptr<scalar_t>(), maps,
                                   scratch);
    });
  });
  return outputs;
}

void transform_deltas(const torch::Tensor& deltas, const TileGrid& grid, const torch::Tensor& transformed) {
  AT_DISPATCH_FLOATING_TYPES(deltas.scalar_type(), "transform_deltas", [&] {
    const Maps<const scalar_t> maps{deltas.data_ptr<scalar_t>(), deltas.size(1), grid.out_height,
                                    grid.out_width,
                                    /*margin=*/0};
    std::vector<scalar_t> scratch;
    run_vectorised(
        [&] { maps_to_tiles<OutputsTransposed, kOut>(maps, grid, Tiles<scalar_t>(transformed), scratch); });
  });
}

torch::Tensor input_deltas_of_tiles(const torch::Tensor& transformed, const TileGrid& grid) {
  const std::int64_t channels = transformed.size(2);
  torch::Tensor deltas =
      torch::empty({grid.examples, channels, grid.height, grid.width}, transformed.options());
  AT_DISPATCH_FLOATING_TYPES(transformed.scalar_type(), "input_deltas_of_tiles", [&] {
    const Maps<scalar_t> maps{deltas.data_ptr<scalar_t>(), channels, grid.height, grid.width, grid.padding};
    const std::vector<scalar_t> zeros(static_cast<std::size_t>(channels));
    std::vector<scalar_t> scratch;
    run_vectorised([&] {
      tiles_to_maps<InputsTransposed, kIn>(Tiles<const scalar_t>(transformed), grid, zeros.data(), maps,
                                           scratch);
    });
  });
  return deltas;
}

torch::Tensor input_deltas_by_tiles(const torch::Tensor& deltas, const torch::Tensor& weight,
                                    const TileGrid& grid) {
  const std::int64_t out = weight.size(0), in = weight.size(1);
  const torch::Tensor filters = places(out, in, weight.options());
  transform_adjoint_filters(weight, filters);
  const torch::Tensor transformed = places(grid.tiles(), out, deltas.options());
  transform_deltas(deltas, grid, transformed);
  torch::Tensor products = places(grid.tiles(), in, deltas.options());
  at::bmm_out(products, transformed, filters);
  return input_deltas_of_tiles(products, grid);
}

}  // namespace fedarena::kernels
