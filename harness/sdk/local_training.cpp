#include "fedarena/local_training.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fedarena {

Schema<RateSchedule> RateSchedule::schema() {
  return {
      {"rate", &RateSchedule::rate, "learning rate of the model", Constraint::positive()},
      {"schedule", &RateSchedule::schedule, "how the rate changes over rounds",
       Constraint::one_of({"constant", "cosine", "step"})},
      {"schedule_step", &RateSchedule::schedule_step, "rounds between decays of the schedule \"step\"",
       Constraint::between(1, 1'000'000)},
      {"schedule_factor", &RateSchedule::schedule_factor, "factor of each decay of the schedule \"step\"",
       Constraint::positive()},
      {"minimum_rate", &RateSchedule::minimum_rate,
       "lowest rate of the schedule \"cosine\", where `rate` is not lower", Constraint::at_least(0)},
  };
}

Schema<LocalTraining> LocalTraining::schema() {
  return Schema<LocalTraining>{
      {"local_epochs", &LocalTraining::local_epochs, "passes over the client's shard in a round",
       Constraint::between(1, 10'000)},
      {"local_steps", &LocalTraining::local_steps,
       "SGD steps in a round, the same for every client; 0: count local_epochs instead",
       Constraint::between(0, 10'000'000)},
      {"batch_size", &LocalTraining::batch_size, "examples in a batch; 0: the whole shard",
       Constraint::between(0, 10'000'000)},
      {"momentum", &LocalTraining::momentum, "momentum of the local SGD", Constraint::between(0, 1)},
      {"weight_decay", &LocalTraining::weight_decay, "weight decay of the local SGD",
       Constraint::at_least(0)},
  }
      .extends<RateSchedule>();
}

Schema<PersonalTraining> PersonalTraining::schema() {
  return {
      {"personal_epochs", &PersonalTraining::personal_epochs,
       "passes over the client's shard that make a model of its own", Constraint::between(0, 10'000)},
      {"personal_steps", &PersonalTraining::personal_steps,
       "SGD steps that make a model of the client's own; 0: count personal_epochs instead",
       Constraint::between(0, 10'000'000)},
      {"personal_rate", &PersonalTraining::personal_rate,
       "learning rate of a model of the client's own, whatever the schedule; 0: rate",
       Constraint::at_least(0)},
  };
}

LocalTraining PersonalTraining::like(LocalTraining shared) const {
  shared.local_epochs = personal_epochs;
  shared.local_steps = personal_steps;
  if (personal_rate > 0) shared.rate = personal_rate;
  shared.schedule = "constant";
  return shared;
}

double RateSchedule::rate_in(std::int64_t round, std::int64_t rounds) const {
  if (schedule == "cosine" && rounds > 1) {
    // A personal model after the last round is made in the round that would follow.
    const double progress =
        static_cast<double>(std::min(round, rounds) - 1) / static_cast<double>(rounds - 1);
    return std::min(rate, std::max(minimum_rate, rate * (1 + std::cos(std::numbers::pi * progress)) / 2));
  }
  if (schedule == "step") {
    return rate * std::pow(schedule_factor, static_cast<double>((round - 1) / schedule_step));
  }
  return rate;
}

std::int64_t LocalTraining::steps(const Oracle& oracle) const {
  return local_steps > 0 ? local_steps : local_epochs * oracle.steps_per_epoch(batch_size);
}

Correction proximal_term(const Params& centre, double mu) {
  if (mu == 0) return {};
  return [&centre, mu](const Params& local, Params& gradient) { gradient.add_scaled(mu, local - centre); };
}

Params train_locally(Client& client, const Params& start, const LocalTraining& config,
                     const Correction& correct) {
  const double rate = config.rate_in(client.round, client.rounds);
  const std::int64_t steps = config.steps(client.oracle);
  Params local = start;
  Params velocity;
  for (std::int64_t step = 0; step < steps; ++step) {
    Params gradient = client.oracle.gradient(local, {.batch_size = config.batch_size});
    if (config.weight_decay > 0) gradient.add_scaled(config.weight_decay, local);
    if (correct) correct(local, gradient);
    if (config.momentum == 0) {
      local.add_scaled(-rate, gradient);
      continue;
    }
    if (velocity.empty()) velocity = zeros_like(start);
    velocity *= config.momentum;
    velocity += gradient;
    local.add_scaled(-rate, velocity);
  }
  return local;
}

AccessPlan training_plan(const Client& client, const LocalTraining& config) {
  return {.gradients = {{config.batch_size, config.steps(client.oracle)}}};
}

}  // namespace fedarena
