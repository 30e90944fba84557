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
      {"class_means", &Config::class_means,
       "where the mean features of a client's classes come from: its raw examples, read once (an exact "
       "access), "
       "or a sum of votes of all its examples in each iteration, which the policy on records makes private",
       Constraint::one_of({"examples", "votes"})},
      {"feature_bound", &Config::feature_bound, "with votes: norm to which each example's features are cut",
       Constraint::positive()},
  }
      .extends(fedarena::SetTraining::schema())
      .extends(ClassMatching::schema())
      .extends(ImageTraining::schema())
      .extends(SyntheticSets::schema())
      .extends(fedarena::RateSchedule::schema());
}

void Config::validate() const {
  ClassMatching::validate();
  if (votes() && augmentation != "none") {
    throw Error(Complaint{.found = "class_means is \"votes\", but augmentation is \"" + augmentation + "\"",
                          .allowed = "augmentation = \"none\"",
                          .remedy = "the mean features of a class cannot be augmented like its images"});
  }
}

}  // namespace feddm
