#pragma once

#include <cstdint>
#include <string>

#include <fedarena/algorithm.hpp>
#include <fedarena/generators.hpp>

namespace pppfl {

/// The hyper-parameters. Names of rates and epochs: inner is on synthetic data in a round, personal what
/// makes a client's own model.
struct Config : fedarena::Generators {
  std::string aggregation = "meta";
  std::int64_t most_examples = 20'000;
  double inner_rate = 1e-4;
  std::int64_t inner_epochs = 1;
  std::int64_t batch_size = 64;
  double start_average = 0.9;  // zeta
  double server_rate = 3e-4;
  std::int64_t cycles = 1;  // M
  std::string weights = "uniform";
  double temperature = 5;  // rho
  std::string adapt_on = "real";
  std::int64_t personal_epochs = 5;  // gamma
  double personal_rate = 1e-4;

  static fedarena::Schema<Config> schema();
};

/// Draws the client's synthetic sets into its state, unless it has them or holds no examples: D*tr, and D*val
/// with a fifth as many images.
void make_sets(const Config& config, fedarena::Client& client);

/// What make_sets() asks for.
fedarena::AccessPlan sets_plan(const Config& config, const fedarena::Client& client);

/// Throws Error for a client that holds examples and has no D*tr: it would be tested with the global model.
void require_set(const fedarena::Client& client);

/// Epochs of Adam on D*tr, which begins anew; `start` itself on a client without one.
fedarena::Params descend(const Config& config, const fedarena::Client& client, fedarena::Params start,
                         std::int64_t epochs, double rate);

/// The gradient of the mean loss on D*val; zero on a client without one.
fedarena::Params query_gradient(const fedarena::Client& client, const fedarena::Params& at);

}  // namespace pppfl
