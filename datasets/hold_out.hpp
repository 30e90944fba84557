#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.hpp"

namespace fedarena {

/// The examples at these places, with their places as positions unless they have some of their own.
Examples chosen(const Examples& all, const std::vector<std::int64_t>& at);

/// Moves a part of the training examples, rounded to the nearest whole number, to `Dataset::validation`:
/// drawn uniformly, the same ones on every machine and for every seed of an experiment. What stays keeps its
/// order. Mean and deviation stay as published. 0 < fraction < 1. Throws Error when either part would be
/// empty.
void hold_out(Dataset& dataset, double fraction);

}  // namespace fedarena
