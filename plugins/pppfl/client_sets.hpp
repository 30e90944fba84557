#pragma once

#include <fedarena/algorithm.hpp>

#include "config.hpp"

namespace pppfl {

/// Draws the client's synthetic sets into its state, unless it has them or holds no examples: D*tr, and D*val
/// with a fifth as many images.
void make_sets(const Config& config, fedarena::Client& client);

/// What make_sets() asks for.
fedarena::AccessPlan sets_plan(const Config& config, const fedarena::Client& client);

/// Epochs of Adam on D*tr, which begins anew; `start` itself on a client without one.
fedarena::Params descend(const Config& config, const fedarena::Client& client, fedarena::Params start,
                         std::int64_t epochs, double rate);

/// The gradient of the mean loss on D*val; zero on a client without one.
fedarena::Params query_gradient(const fedarena::Client& client, const fedarena::Params& at);

}  // namespace pppfl
