#pragma once

#include <cstdint>
#include <string>

#include "fedarena/algorithm.hpp"

namespace fedarena {

/// A learning rate that may fall over the rounds: derive your Config from it, or from LocalTraining, which
/// has it.
struct FEDARENA_API RateSchedule {
  double rate = 0.05;
  std::string schedule = "constant";
  std::int64_t schedule_step = 10;
  double schedule_factor = 0.1;
  double minimum_rate = 1e-6;

  static Schema<RateSchedule> schema();

  /// Learning rate of a round (from 1) of `rounds`. constant: `rate`. step: rate *
  /// schedule_factor^floor((round-1) / schedule_step). cosine: rate * (1 + cos(pi (round-1) / (rounds-1))) /
  /// 2, at least minimum_rate, or `rate` where that is less.
  double rate_in(std::int64_t round, std::int64_t rounds) const;
};

/// The hyper-parameters that every algorithm with local SGD has: derive your Config from it. One local SGD
/// for all keeps FedAvg, FedProx and SCAFFOLD apart only where their papers differ.
struct FEDARENA_API LocalTraining : RateSchedule {
  std::int64_t local_epochs = 1;
  std::int64_t local_steps = 0;
  std::int64_t batch_size = 64;
  double momentum = 0.0;
  double weight_decay = 0.0;

  static Schema<LocalTraining> schema();

  /// SGD steps of one client in one round: local_steps, or local_epochs passes over its shard when that is 0.
  std::int64_t steps(const Oracle& oracle) const;
};

/// How a client trains a model of its own: derive your Config from it beside LocalTraining.
struct FEDARENA_API PersonalTraining {
  std::int64_t personal_epochs = 1;
  std::int64_t personal_steps = 0;
  double personal_rate = 0;

  static Schema<PersonalTraining> schema();

  /// As `shared`, but for these three.
  LocalTraining like(LocalTraining shared) const;
};

/// What an algorithm adds to the gradient of each step; called with the current local parameters and the
/// gradient.
using Correction = std::function<void(const Params& local, Params& gradient)>;

/// The gradient of mu/2 ||local - centre||^2; nothing at all when mu is 0. Keep `centre` for as long.
FEDARENA_API Correction proximal_term(const Params& centre, double mu);

/// SGD on a client's own data from `start`, with momentum v <- momentum v + g and weight decay added to the
/// gradient (both as in PyTorch's SGD; the momentum starts at zero each round). Returns the trained
/// parameters.
FEDARENA_API Params train_locally(Client& client, const Params& start, const LocalTraining& config,
                                  const Correction& correct = {});

/// What train_locally() asks the client's oracle for: the plan of an algorithm that asks for nothing else.
FEDARENA_API AccessPlan training_plan(const Client& client, const LocalTraining& config);

}  // namespace fedarena
