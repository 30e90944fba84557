#pragma once

#include "fedarena/base/export.hpp"
#include "fedarena/layers.hpp"

namespace fedarena {

/// Layers without parameters that networks of an algorithm's own need, such as generators. They have no
/// rules: a model that has one is differentiated by LibTorch.

/// max(x, slope x), 0 <= slope <= 1.
FEDARENA_API Custom leaky_relu(double slope);
/// 1 / (1 + e^-x).
FEDARENA_API Custom sigmoid();
FEDARENA_API Custom tanh();
/// Each pixel of [channels, height, width] becomes size x size of them.
FEDARENA_API Custom upsample(std::int64_t size);
/// The same numbers in the same order, in a shape of as many.
FEDARENA_API Custom reshape(const Custom::Shape& shape);

}  // namespace fedarena
