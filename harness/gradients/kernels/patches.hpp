#pragma once

#include <cstdint>

#include <torch/types.h>

#include "fedarena/layers.hpp"

/// Convolutions with few input channels as products of matrices with patches. A patch is what the kernel sees
/// at one position: in * kernel * kernel numbers, few enough that they fill one or two registers. Tensors are
/// floating, contiguous and on the CPU.
namespace fedarena::kernels {

/// Whether patches are that small and outputs many.
bool prefer_patches(const Conv2d& layer);

/// Outputs [n, out, h', w'] from inputs [n, in, h, w], weight [out, in, k, k] and bias [out].
torch::Tensor outputs_of_patches(const Conv2d& layer, const torch::Tensor& inputs,
                                 const torch::Tensor& weight, const torch::Tensor& bias);

/// Gradient in the weight [out, columns] from inputs and deltas [n, out, h', w'], summed over the examples.
/// The first in * k * k columns are the weight's, the others zero.
torch::Tensor weight_deltas_of_patches(const Conv2d& layer, const torch::Tensor& inputs,
                                       const torch::Tensor& deltas);

/// result [n, in, h, w] += the gradient in the inputs from deltas.
void add_input_deltas_of_patches(const Conv2d& layer, const torch::Tensor& weight,
                                 const torch::Tensor& deltas, const torch::Tensor& result);

}  // namespace fedarena::kernels
