// Multinomial logistic regression: one affine map and softmax cross-entropy.
#include <numeric>

#include "harness/models/zoo.hpp"

namespace fedarena {

ModelInfo logistic_model() {
  return {"logistic",
          "multinomial logistic regression: one affine map, softmax cross-entropy",
          {},
          [](const Settings& /*settings*/, const ModelInput& input) {
            require_classes("logistic", input);
            const std::int64_t features =
                std::accumulate(input.shape.begin(), input.shape.end(), std::int64_t{1}, std::multiplies<>());
            return Architecture{.input_shape = input.shape,
                                .outputs = input.outputs,
                                .layers = {Flatten{}, Linear{features, input.outputs}}};
          }};
}

}  // namespace fedarena
