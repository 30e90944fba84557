#include "config.hpp"

namespace feddm {

using fedarena::Constraint;
using fedarena::Schema;

Schema<Config> Config::schema() {
  return Schema<Config>{
      {"rho", &Config::rho,
       "radius of the ball around the global model that clients draw weights from and the server stays in",
       Constraint::positive()},
      {"iterations", &Config::iterations, "steps of a client's images in a round, each at weights of its own",
       Constraint::between(1, 1'000'000)},
  }
      .extends(fedarena::SetTraining::schema())
      .extends(fedarena::ClassMatching::schema())
      .extends(fedarena::ImageTraining::schema())
      .extends(fedarena::SyntheticSets::schema())
      .extends(fedarena::RateSchedule::schema());
}

}  // namespace feddm
