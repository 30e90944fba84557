#pragma once

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace dsc {

/// Moves the images of `set`, which are not none, so that class by class their gradients match those of the
/// client's examples along the way of models that train on them, from random weights. An exact access.
void condense(const Config& config, fedarena::Client& client, fedarena::Batch& set);

}  // namespace dsc
