#include "fedarena/features.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include <ATen/ATen.h>

#include "fedarena/base/error.hpp"

namespace fedarena {

Model feature_model(const Model& model, std::string_view algorithm) {
  Architecture architecture = model.architecture();
  const auto* last = architecture.layers.empty() ? nullptr : std::get_if<Linear>(&architecture.layers.back());
  if (last == nullptr) {
    throw Error(Complaint{
        .found = std::string(algorithm) + " needs the features that a last affine layer is given, and this "
                                          "model has no such layer of its own",
        .remedy = "choose another model, or a method that needs gradients only, such as fedlap or dsc"});
  }
  architecture.outputs = last->in;
  architecture.layers.pop_back();
  return {std::move(architecture), model.options()};
}

Params feature_weights(const Model& features, const Params& at) {
  return {features.layout(), at.flat().narrow(0, 0, features.layout()->numel())};
}

VoteQuery class_means_query(std::int64_t classes, std::int64_t dimension) {
  return {.parts = 0, .votes = 1, .numbers = classes * dimension + classes, .bound = std::sqrt(2.0)};
}

ClassMeans noisy_class_means(Client& client, std::int64_t dimension, const Features& features) {
  const std::int64_t classes = client.model.num_classes();
  const torch::Tensor sums = client.oracle.noisy_sum(
      [&](const Voters& voters) {
        const torch::Tensor own = features(voters.examples.inputs.flatten(0, 1));
        const torch::Tensor kind = at::one_hot(voters.examples.targets.flatten(), classes).to(own.options());
        return at::cat({(kind.unsqueeze(2) * own.unsqueeze(1)).flatten(1), kind}, 1).unsqueeze(1);
      },
      class_means_query(classes, dimension))[0];
  const torch::Tensor counts = sums.narrow(0, sums.size(0) - classes, classes).unsqueeze(1);
  const torch::Tensor weights = at::where(counts < 1, torch::zeros_like(counts), counts);
  const torch::Tensor means =
      sums.narrow(0, 0, sums.size(0) - classes).view({classes, -1}) / counts.clamp_min(1);
  return {means.to(client.model.options()),
          (weights / weights.sum().clamp_min(1)).to(client.model.options())};
}

}  // namespace fedarena
