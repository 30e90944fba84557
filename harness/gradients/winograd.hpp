#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/layers.hpp"

/// Convolutions with 3x3 kernels in a domain where they are products of
/// matrices, with 36 multiplications for 4x4 outputs instead of 144 (Winograd
/// 1980; Lavin and Gray, CVPR 2016, F(4x4, 3x3)). A map is cut into tiles of
/// 4x4 outputs, a transformed tile has 36 places, and for each of them
///   outputs[place] = inputs[place] * filters[place],          [tiles, in] *
///   [in, out], deltas of inputs[place] = deltas[place] *
///   adjoint_filters[place],  [tiles, out] * [out, in].
/// What is transformed may be added up before it is brought back. Rounding is
/// some ten times that of the convolution itself. Tensors are floating and on
/// the CPU; maps and weights are contiguous.
namespace fedarena::kernels {

/// Where the tiles of some examples lie.
struct TileGrid {
  /// Of a convolution with a 3x3 kernel on maps of that size.
  TileGrid(const Conv2d& layer, std::int64_t examples, std::int64_t height, std::int64_t width);

  std::int64_t tiles() const { return examples * rows * columns; }
  /// How many times fewer multiplications than the convolution itself takes;
  /// tiles overhang.
  double saving() const;

  std::int64_t examples;
  std::int64_t height, width, padding;  ///< of the inputs
  std::int64_t out_height, out_width;
  std::int64_t rows, columns;  ///< tiles of an example
};

/// Whether transforms cost less than they save: that takes products with many
/// channels on either side, and enough tiles for the filters' own.
bool prefer_tiles(const Conv2d& layer, const torch::Tensor& inputs);

/// [36, rows, columns], not initialised; each place is contiguous.
torch::Tensor places(std::int64_t rows, std::int64_t columns, const torch::TensorOptions& options);

/// Writes `transformed` [36, in, out], whose places are contiguous, from a weight [out, in, 3, 3].
void transform_filters(const torch::Tensor& weight, const torch::Tensor& transformed);
/// The same for adjoints: [36, out, in].
void transform_adjoint_filters(const torch::Tensor& weight, const torch::Tensor& transformed);

/// Writes `transformed` [36, tiles, in], whose last dimension is dense, from
/// inputs [n, in, h, w].
void transform_inputs(const torch::Tensor& inputs, const TileGrid& grid, const torch::Tensor& transformed);
/// Outputs [n, out, h', w'] from [36, tiles, out], plus bias [out].
torch::Tensor outputs_of_tiles(const torch::Tensor& transformed, const TileGrid& grid,
                               const torch::Tensor& bias);

/// The transposed map of outputs_of_tiles: writes `transformed` [36, tiles,
/// out], whose last dimension is dense, from deltas [n, out, h', w'].
void transform_deltas(const torch::Tensor& deltas, const TileGrid& grid, const torch::Tensor& transformed);
/// The transposed map of transform_inputs: [n, in, h, w] from [36, tiles, in].
torch::Tensor input_deltas_of_tiles(const torch::Tensor& transformed, const TileGrid& grid);

/// The convolution's adjoint, from first to last: gradients in the inputs [n, in,
/// h, w] from those in the outputs, `deltas` [n, out, h', w'].
torch::Tensor input_deltas_by_tiles(const torch::Tensor& deltas, const torch::Tensor& weight,
                                    const TileGrid& grid);

}  // namespace fedarena::kernels
