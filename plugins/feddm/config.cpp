#include "config.hpp"

#include <fedarena/augmentation.hpp>

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
      {"batch_size", &Config::batch_size,
       "examples of each class in a step; 0: all (any number is an exact access)",
       Constraint::between(0, 10'000'000)},
      {"augmentation",
       &Config::augmentation,
       "differentiable siamese augmentation of examples and images, drawn for each class and step: "
       "operations "
       "joined by \"_\" out of color, crop, cutout, flip, scale, rotate; or none",
       {}},
  }
      .extends(fedarena::SetTraining::schema())
      .extends(fedarena::ImageTraining::schema())
      .extends(fedarena::SyntheticSets::schema())
      .extends(fedarena::RateSchedule::schema());
}

void Config::validate() const { fedarena::Augmentation::validate(augmentation); }

}  // namespace feddm
