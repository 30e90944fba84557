// The LeNet of DLG: Zhu, Liu, Han, "Deep leakage from gradients", NeurIPS 2019 (arXiv:1906.08935), and its
// public code (github.com/mit-han-lab/dlg): three 5x5 convolutions of 12 channels with strides 2, 2 and 1,
// each followed by a sigmoid, whose second derivatives are nowhere zero, and one affine map. Weights start
// uniform in +-0.5.
//
// Differs from the code: the bias of the affine map starts at zero.
#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

constexpr std::int64_t kDlgChannels = 12, kDlgKernel = 5, kDlgPadding = 2;
// A Custom layer's parameters start uniform in +-1/sqrt(numbers in a row): in +-0.5 where these are four.
constexpr std::int64_t kFourInARow = 4;

std::int64_t dlg_side(std::int64_t side, std::int64_t stride) {
  return (side + 2 * kDlgPadding - kDlgKernel) / stride + 1;
}

Custom::Shape after_convolution(const Custom::Shape& shape, std::int64_t stride) {
  return {kDlgChannels, dlg_side(shape[1], stride), dlg_side(shape[2], stride)};
}

// Of inputs of that shape. Weights [channels, in, 5, 5] and then biases, in one tensor.
Custom sigmoid_convolution(const Custom::Shape& shape, std::int64_t stride) {
  const std::int64_t in = shape[0];
  const std::int64_t weights = kDlgChannels * in * kDlgKernel * kDlgKernel;
  return {
      .parameters = {{(weights + kDlgChannels) / kFourInARow, kFourInARow}},
      .forward =
          [in, stride, weights](const std::vector<torch::Tensor>& at, const torch::Tensor& images) {
            const torch::Tensor all = at[0].flatten();
            const torch::Tensor weight =
                all.narrow(0, 0, weights).view({kDlgChannels, in, kDlgKernel, kDlgKernel});
            const torch::Tensor bias = all.narrow(0, weights, kDlgChannels);
            return torch::sigmoid(torch::conv2d(images, weight, bias, stride, kDlgPadding));
          },
      .output_shape = [stride](const Custom::Shape& inputs) { return after_convolution(inputs, stride); },
      .products = in * kDlgKernel * kDlgKernel * c10::multiply_integers(after_convolution(shape, stride))};
}

Custom wide_affine_map(std::int64_t in, std::int64_t out) {
  return {.parameters = {{in * out / kFourInARow, kFourInARow}, {out}},
          .forward =
              [in, out](const std::vector<torch::Tensor>& at, const torch::Tensor& features) {
                return torch::addmm(at[1], features, at[0].view({out, in}).t());
              },
          .output_shape = [out](const Custom::Shape&) { return Custom::Shape{out}; },
          .products = in * out};
}

Architecture build_dlg_lenet(const Settings& /*settings*/, const ModelInput& input) {
  require_classes("dlg-lenet", input);
  require_images("dlg-lenet", input);
  const Custom::Shape once = after_convolution(input.shape, 2), twice = after_convolution(once, 2);
  const std::int64_t features = c10::multiply_integers(after_convolution(twice, 1));
  return {.input_shape = input.shape,
          .outputs = input.outputs,
          .layers = {sigmoid_convolution(input.shape, 2), sigmoid_convolution(once, 2),
                     sigmoid_convolution(twice, 1), Flatten{}, wide_affine_map(features, input.outputs)}};
}

}  // namespace

ModelInfo dlg_lenet_model() {
  return {
      "dlg-lenet",
      "the LeNet of DLG (Zhu, Liu, Han 2019), which gradient inversion is shown on: three 5x5 convolutions "
      "with sigmoids, then one affine map; 13,426 parameters for 28x28 grey images, 15,826 for 32x32 colour "
      "images",
      {},
      build_dlg_lenet};
}

}  // namespace fedarena
