// Multinomial logistic regression: one affine map and softmax cross-entropy.
#include <c10/util/accumulate.h>

#include "harness/models/zoo.hpp"

namespace fedarena {

ModelInfo logistic_model() {
  return {"logistic",
          "multinomial logistic regression: one affine map, softmax cross-entropy",
          {},
          [](const Settings& /*settings*/, const ModelInput& input) {
            require_classes("logistic", input);
            const std::int64_t features = c10::multiply_integers(input.shape);
            return Architecture{.input_shape = input.shape,
                                .outputs = input.outputs,
                                .layers = {Flatten{}, Linear{features, input.outputs}}};
          }};
}

}  // namespace fedarena
