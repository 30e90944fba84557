#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <torch/types.h>

#include "fedarena/algorithm.hpp"
#include "fedarena/base/export.hpp"
#include "fedarena/model.hpp"
#include "fedarena/params.hpp"

namespace fedarena {

/// A model cut before its last affine map, whose inputs are the features. Its layout is the beginning of the
/// model's. Error when the model does not end in such a map; `algorithm` is who needs it.
FEDARENA_API Model feature_model(const Model& model, std::string_view algorithm);

/// The weights of a `feature_model` in those of its model; a view of them, not a copy.
FEDARENA_API Params feature_weights(const Model& features, const Params& at);

/// What a noisy sum tells of the classes of a client's examples.
struct ClassMeans {
  torch::Tensor features;  ///< [classes, features]: means, in the model's floating type
  torch::Tensor weights;   ///< [classes, 1]: shares of examples, which sum to 1 or are all 0
};

/// Features [n, features], each of norm at most 1, of inputs [n, input shape...]. Called from several threads
/// at once.
using Features = std::function<torch::Tensor(const torch::Tensor& inputs)>;

/// How class means of so many features are asked for: every example votes, which moves the vote below by
/// sqrt(2) at most.
FEDARENA_API VoteQuery class_means_query(std::int64_t classes, std::int64_t dimension);

/// One vote of every example: its class, and its `dimension` features in the place of that class. A class
/// whose noisy count is below 1 has weight 0 and a mean that says nothing.
FEDARENA_API ClassMeans noisy_class_means(Client& client, std::int64_t dimension, const Features& features);

}  // namespace fedarena
