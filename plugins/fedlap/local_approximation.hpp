#pragma once

#include <fedarena/algorithm.hpp>

#include "config.hpp"
#include "global_optimisation.hpp"

namespace fedlap {

/// Algorithm 1 (with privatised gradients Algorithm 3): moves the images of `set` so that its gradients match
/// those of the client's examples along walks from `start` within the radius.
void approximate(const Config& config, fedarena::Client& client, const fedarena::Params& start,
                 fedarena::Batch& set);

/// r_k: how far from `start` the set, descended on as the server does, serves the client's examples; at most
/// the radius (Section 4.2, Figure 2). Looks at the examples.
double effective_radius(const Config& config, fedarena::Client& client, const fedarena::Params& start,
                        const WeightedSet& own);

}  // namespace fedlap
