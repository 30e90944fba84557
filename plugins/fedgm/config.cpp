#include "config.hpp"

namespace fedgm {

using namespace fedarena;

Schema<Config> Config::schema() {
  return Schema<Config>{
      {"real_images", &Config::real_images,
       "which examples of a class its images are compared with: those nearest to the centres of batch_size "
       "clusters, or random ones",
       Constraint::one_of({"representative", "random"})},
      {"cluster_every", &Config::cluster_every,
       "points on the way of a model from one clustering to the next", Constraint::between(1, 1'000'000)},
      {"label_epsilon", &Config::label_epsilon,
       "epsilon of the randomised response on the labels of synthetic images, which makes two rounds of one "
       "and protects no example; 0: labels are sent as they are",
       Constraint::at_least(0)},
  }
      .extends(Condensation::schema())
      .extends(ClassMatching::schema())
      .extends(ImageTraining::schema())
      .extends(SyntheticSets::schema())
      .extends(GradientMatching::schema());
}

}  // namespace fedgm
