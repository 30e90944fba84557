#include "fedarena/custom_layers.hpp"

#include <functional>
#include <utility>

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

using Function = std::function<torch::Tensor(const torch::Tensor&)>;
using ShapeRule = std::function<Custom::Shape(const Custom::Shape&)>;

Custom without_parameters(Function function, ShapeRule output_shape) {
  return {
      .parameters = {},
      .forward = [function = std::move(function)](const std::vector<torch::Tensor>&,
                                                  const torch::Tensor& inputs) { return function(inputs); },
      .output_shape = std::move(output_shape)};
}

Custom of_each_number(Function function) {
  return without_parameters(std::move(function), [](const Custom::Shape& shape) { return shape; });
}

}  // namespace

Custom leaky_relu(double slope) {
  return of_each_number([slope](const torch::Tensor& inputs) { return at::leaky_relu(inputs, slope); });
}

Custom sigmoid() { return of_each_number(at::sigmoid); }

Custom tanh() { return of_each_number(at::tanh); }

Custom upsample(std::int64_t size) {
  return without_parameters(
      [size](const torch::Tensor& inputs) {
        return at::upsample_nearest2d(inputs, {inputs.size(2) * size, inputs.size(3) * size});
      },
      [size](const Custom::Shape& shape) -> Custom::Shape {
        FEDARENA_CHECK(shape.size(), ==, 3U);
        return {shape[0], shape[1] * size, shape[2] * size};
      });
}

Custom reshape(const Custom::Shape& shape) {
  return without_parameters(
      [shape](const torch::Tensor& inputs) { return inputs.flatten(1).unflatten(1, shape); },
      [shape](const Custom::Shape& inputs) {
        FEDARENA_CHECK(c10::multiply_integers(inputs), ==, c10::multiply_integers(shape));
        return shape;
      });
}

}  // namespace fedarena
