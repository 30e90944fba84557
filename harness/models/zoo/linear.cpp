// Linear regression: one affine map trained on half the squared error. Its loss is a quadratic, so
// trajectories of federated methods have closed forms. Class labels become one-hot targets (least-squares
// classification).
#include <numeric>

#include "harness/models/zoo.hpp"

namespace fedarena {

ModelInfo linear_model() {
  return {"linear",
          "one affine map, half the squared error; class labels become one-hot targets",
          {},
          [](const Settings& /*settings*/, const ModelInput& input) {
            const std::int64_t features =
                std::accumulate(input.shape.begin(), input.shape.end(), std::int64_t{1}, std::multiplies<>());
            return Architecture{.input_shape = input.shape,
                                .outputs = input.outputs,
                                .layers = {Flatten{}, Linear{features, input.outputs}},
                                .loss = Loss::kSquaredError};
          }};
}

}  // namespace fedarena
