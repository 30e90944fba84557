#pragma once

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace fedgm {

/// A client's condensed set: images of each of its classes whose gradients match those of its examples along
/// the way of models that start anew. An exact access. The client observes the distance as "matching-loss"
/// and, for each tenth of the models, as "matching-loss-1" to "matching-loss-10". Error when examples are to
/// be clustered and the model does not end in an affine map.
fedarena::Batch condensed_set(const Config& config, fedarena::Client& client);

}  // namespace fedgm
