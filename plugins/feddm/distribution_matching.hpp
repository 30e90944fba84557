#pragma once

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace feddm {

/// Moves the images of `set`, which are not none, so that class by class their mean features and mean logits
/// agree with those of the client's examples, at weights near `start`. An exact access. Error when the model
/// does not end in an affine map, whose inputs the features are.
void match_distributions(const Config& config, fedarena::Client& client, const fedarena::Params& start,
                         fedarena::Batch& set);

}  // namespace feddm
