// Multi-layer perceptron with ReLU; the default is the "2NN" of McMahan et al., AISTATS 2017 (two hidden
// layers of 200 units, 199,210 parameters for 28x28 grey images and ten classes). On regression data its loss
// is half the squared error.
#include <c10/util/accumulate.h>

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

struct MlpConfig {
  std::vector<std::int64_t> hidden = {200, 200};

  static Schema<MlpConfig> schema() {
    return {{"hidden", &MlpConfig::hidden, "units of each hidden layer", Constraint::between(1, 100'000)}};
  }
};

Architecture build_mlp(const Settings& settings, const ModelInput& input) {
  const MlpConfig config = MlpConfig::schema().read(settings);
  Architecture model{.input_shape = input.shape, .outputs = input.outputs, .layers = {Flatten{}}};
  if (input.regression) model.loss = Loss::kSquaredError;
  std::int64_t units = c10::multiply_integers(input.shape);
  for (const std::int64_t next : config.hidden) {
    model.layers.push_back(Linear{units, next});
    model.layers.push_back(Relu{});
    units = next;
  }
  model.layers.push_back(Linear{units, input.outputs});
  return model;
}

}  // namespace

ModelInfo mlp_model() {
  return {"mlp",
          "hidden layers with ReLU, then an affine map; by default the 2NN of McMahan et al. 2017; half "
          "the squared error on regression data",
          MlpConfig::schema().fields(), build_mlp};
}

}  // namespace fedarena
