#include "fedarena/features.hpp"

#include <string>
#include <utility>
#include <variant>

#include "fedarena/base/error.hpp"

namespace fedarena {

Model feature_model(const Model& model, std::string_view algorithm) {
  Architecture architecture = model.architecture();
  const auto* last = architecture.layers.empty() ? nullptr : std::get_if<Linear>(&architecture.layers.back());
  if (last == nullptr) {
    throw Error(Complaint{
        .found = std::string(algorithm) + " needs features, but the model does not end in an affine map",
        .remedy = "choose another model, or a method that needs gradients only, such as fedlap or dsc"});
  }
  architecture.outputs = last->in;
  architecture.layers.pop_back();
  return {std::move(architecture), model.options()};
}

Params feature_weights(const Model& features, const Params& at) {
  return {features.layout(), at.flat().narrow(0, 0, features.layout()->numel())};
}

}  // namespace fedarena
