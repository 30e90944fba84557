#include "fedarena/private_set.hpp"

#include <algorithm>

namespace fedarena {

PrivateSet::PrivateSet() {
  criterion = "cosine";
  images_per_class = 10;
  classes = "all";
  image_init = "noise";
  image_rate = 0.1;
  outer_steps = 10;
  model_epochs = 50;
}

Schema<PrivateSet> PrivateSet::schema() {
  return Schema<PrivateSet>{
      {"real_batches", &PrivateSet::real_batches,
       "private gradients at each point, each followed by one step of all images",
       Constraint::between(1, 1'000'000)},
      {"batch_size", &PrivateSet::batch_size, "examples in a real batch, of all classes; 0: the whole shard",
       Constraint::between(0, 10'000'000)},
  }
      .extends<Condensation, ImageTraining, SyntheticSets, GradientMatching>();
}

Batch private_set(const PrivateSet& config, Client& client) {
  Batch set = initial_set(config, client);
  if (set.size() == 0) return set;
  ImageDescent descent(config, set.inputs);
  const std::int64_t paid = client.oracle.gradients_left(config.batch_size);
  std::int64_t asked = 0;
  condense(config, "none", client, set, [&](const Params& model) {
    for (std::int64_t batch = 0; batch < config.real_batches && asked < paid; ++batch, ++asked) {
      const Params target = client.oracle.gradient(model, {.batch_size = config.batch_size});
      descent.step(matching_slope(config, client, model, set, target));
    }
    return asked < paid;
  });
  client.observed.add("private-gradients", static_cast<double>(asked));
  return set;
}

AccessPlan private_set_plan(const PrivateSet& config, const Client& client) {
  const std::int64_t all = config.initialisations * config.outer_steps * config.real_batches;
  return {.gradients = {{config.batch_size, std::min(all, client.oracle.gradients_left(config.batch_size))}}};
}

}  // namespace fedarena
