#pragma once

#include "harness/sdk/generators/image_generator.hpp"

namespace fedarena::generators {

/// Trains the generator by votes of teachers on parts of the shard (Wang et al. 2021); returns the number of
/// votes.
std::int64_t train_by_teachers(const Generators& config, Client& client, ImageGenerator& generator);

/// Trains it on one noisy mean embedding of the shard (Harder et al. 2021); returns the number of votes.
std::int64_t train_on_embedding(const Generators& config, Client& client, ImageGenerator& generator);

/// How many votes the one and the other ask for.
std::int64_t teacher_votes(const Generators& config, const Client& client);
std::int64_t embedding_votes(const Generators& config, const Client& client);

}  // namespace fedarena::generators
