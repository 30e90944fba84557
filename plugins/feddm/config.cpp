#include "config.hpp"

namespace feddm {

using namespace fedarena;

Schema<Config> Config::schema() {
  return Schema<Config>{
      {"rho", &Config::rho,
       "radius of the ball around the global model that clients draw weights from and the server stays in",
       Constraint::positive()},
      {"iterations", &Config::iterations, "steps of a client's images in a round, each at weights of its own",
       Constraint::between(1, 1'000'000)},
  }
      .extends(fedarena::SetTraining::schema())
      .extends(ClassMatching::schema())
      .extends(ImageTraining::schema())
      .extends(SyntheticSets::schema())
      .extends(fedarena::RateSchedule::schema());
}

}  // namespace feddm
