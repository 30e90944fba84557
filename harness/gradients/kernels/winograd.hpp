#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/layers.hpp"

/// Convolutions with 3x3 kernels in a domain where they are products of matrices, with 36 multiplications for
/// 4x4 outputs instead of 144, or 16 for 2x2 instead of 36 (Winograd 1980; Lavin and Gray, CVPR 2016,
/// F(4x4, 3x3) and F(2x2, 3x3)). A map is cut into tiles; a transformed tile has 36 or 16 places, and for
/// each of them
///   outputs[place] = inputs[place] * filters[place],                  [tiles, in] * [in, out],
///   deltas of inputs[place] = deltas[place] * adjoint_filters[place], [tiles, out] * [out, in],
///   deltas of filters[place] = deltas[place]' * inputs[place],        [out, tiles] * [tiles, in].
/// What is transformed may be added up before it is brought back. Tensors are floating and on the CPU; maps
/// and weights are contiguous.
namespace fedarena::kernels {

/// How a map is cut.
enum class Tile {
  kSmall,  ///< 2x2 outputs; rounding no worse than that of the convolution summed term by term
  kLarge,  ///< 4x4 outputs; rounding some ten times that of LibTorch's convolution
};
/// Outputs of a tile in each direction.
constexpr std::int64_t side_of(Tile tile) { return tile == Tile::kSmall ? 2 : 4; }
/// Numbers of a transformed tile.
constexpr std::int64_t places_of(Tile tile) { return tile == Tile::kSmall ? 16 : 36; }

/// Where the tiles of some examples lie.
struct TileGrid {
  /// Of a convolution with a 3x3 kernel on maps of that size.
  TileGrid(const Conv2d& layer, std::int64_t examples, std::int64_t height, std::int64_t width,
           Tile tile = Tile::kLarge);

  std::int64_t tiles() const { return examples * tiles_of_example(); }
  std::int64_t tiles_of_example() const { return rows * columns; }
  /// How many times fewer multiplications than the convolution itself takes; tiles overhang.
  double saving() const;

  Tile tile;
  std::int64_t examples;
  std::int64_t height, width, padding;  ///< of the inputs
  std::int64_t out_height, out_width;
  std::int64_t rows, columns;  ///< tiles of an example
};

/// Whether transforms cost less than they save: that takes products with many channels on either side, and
/// enough tiles for the filters' own.
bool prefer_tiles(const Conv2d& layer, const torch::Tensor& inputs);

/// [places, rows, columns], not initialised, as `multiply` (products.hpp) wants them: rows are dense.
torch::Tensor places(Tile tile, std::int64_t rows, std::int64_t columns, const torch::TensorOptions& options);

/// Of each place, left [rows, n] * right [n, columns], in `places`.
torch::Tensor products_of_places(Tile tile, const torch::Tensor& left, const torch::Tensor& right);

/// Writes `transformed` [places, in, out], whose last dimension is dense, from a weight [out, in, 3, 3].
void transform_filters(const torch::Tensor& weight, const torch::Tensor& transformed);
/// The same for adjoints: [36, out, in].
void transform_adjoint_filters(const torch::Tensor& weight, const torch::Tensor& transformed);

/// Writes `transformed` [places, tiles, in], whose last dimension is dense, from inputs [n, in, h, w].
void transform_inputs(const torch::Tensor& inputs, const TileGrid& grid, const torch::Tensor& transformed);
/// Outputs [n, out, h', w'] from [places, tiles, out], plus bias [out].
torch::Tensor outputs_of_tiles(const torch::Tensor& transformed, const TileGrid& grid,
                               const torch::Tensor& bias);

// The rest has large tiles alone.

/// The transposed map of outputs_of_tiles: writes `transformed` [36, tiles, out], whose last dimension is
/// dense, from deltas [n, out, h', w'].
void transform_deltas(const torch::Tensor& deltas, const TileGrid& grid, const torch::Tensor& transformed);
/// The transposed map of transform_inputs: [n, in, h, w] from [36, tiles, in].
torch::Tensor input_deltas_of_tiles(const torch::Tensor& transformed, const TileGrid& grid);

/// Gradient in a weight, tap after tap [9, out, in], from transformed deltas [36, tiles, out] and inputs [36,
/// tiles, in], summed over all tiles.
torch::Tensor weight_deltas_of_tiles(const torch::Tensor& deltas, const torch::Tensor& inputs);
/// One example's gradient in a weight [9, out, in], and its squared norm in double.
struct ExampleWeight {
  torch::Tensor taps;
  double squared;
};
/// Of the example whose tiles are `count` from `begin` on: so few that a product of matrices would wait for
/// memory.
ExampleWeight weight_delta_of_example(const torch::Tensor& deltas, const torch::Tensor& inputs,
                                      std::int64_t begin, std::int64_t count);
/// weight [out, in, 3, 3] += taps [9, out, in].
void add_taps(const torch::Tensor& taps, const torch::Tensor& weight);

}  // namespace fedarena::kernels
