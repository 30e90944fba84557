// Linear regression: one affine map trained on half the squared error. Its loss is a quadratic, so
// trajectories of federated methods have closed forms. Class labels become one-hot targets (least-squares
// classification).
#include <c10/util/accumulate.h>

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

struct LinearConfig {
  bool bias = true;

  static Schema<LinearConfig> schema() {
    return {{"bias", &LinearConfig::bias, "whether the map has a constant term; false: it is linear"}};
  }
};

// The layer Linear always has a bias.
Custom linear_map(std::int64_t in, std::int64_t out) {
  return {.parameters = {{out, in}},
          .forward = [](const std::vector<torch::Tensor>& at,
                        const torch::Tensor& inputs) { return inputs.matmul(at[0].t()); },
          .output_shape = [out](const Custom::Shape&) { return Custom::Shape{out}; },
          .products = in * out};
}

Architecture build_linear(const Settings& settings, const ModelInput& input) {
  const LinearConfig config = LinearConfig::schema().read(settings);
  const std::int64_t features = c10::multiply_integers(input.shape);
  Architecture model{.input_shape = input.shape,
                     .outputs = input.outputs,
                     .layers = {Flatten{}},
                     .loss = Loss::kSquaredError};
  if (config.bias)
    model.layers.emplace_back(Linear{features, input.outputs});
  else
    model.layers.emplace_back(linear_map(features, input.outputs));
  return model;
}

}  // namespace

ModelInfo linear_model() {
  return {"linear", "one affine map, half the squared error; class labels become one-hot targets",
          LinearConfig::schema().fields(), build_linear};
}

}  // namespace fedarena
