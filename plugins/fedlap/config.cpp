#include "config.hpp"

#include <fedarena/augmentation.hpp>

namespace fedlap {

using namespace fedarena;

Schema<Config> Config::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return Schema<Config>{
      {"carry_images", &Config::carry_images,
       "start from the images of the client's last round, where it has some"},
      {"trajectories", &Config::trajectories, "R_i: walks from the global model in a round", count},
      {"outer_steps", &Config::outer_steps, "points on each walk; it ends earlier where it leaves the radius",
       count},
      {"real_batches", &Config::real_batches, "gradients of real batches at each point", count},
      {"image_updates", &Config::image_updates, "R_b: updates of the images for each of them", count},
      {"model_steps", &Config::model_steps, "R_l: steps of the local model on its images from point to point",
       Constraint::between(0, 1'000'000)},
      {"batch_size", &Config::batch_size, "examples in a real batch; 0: the whole shard",
       Constraint::between(0, 10'000'000)},
      {"augmentation", &Config::augmentation,
       "differentiable siamese augmentation of real and synthetic batches: operations joined by \"_\", of "
       "which "
       "each real batch draws one, out of color, crop, cutout, flip, scale, rotate; or none"},
      {"radius", &Config::radius,
       "r: Euclidean distance from the global model up to which clients approximate; what they measure is at "
       "most "
       "this",
       Constraint::positive()},
      {"server_radius", &Config::server_radius,
       "r_g, how far the server may go: the least, median or largest of what clients measure on their "
       "examples "
       "(see region), the constant radius, or none",
       Constraint::one_of({"min", "median", "max", "constant", "none"})},
      {"region", &Config::region,
       "what clients measure r_k by: the least loss of their examples (an exact access), the least of the "
       "sums "
       "of votes in which each example says its losses on the whole way at once, or the last point where the "
       "gradients of examples and images still agree in direction",
       Constraint::one_of({"loss", "votes", "gradient"})},
      {"region_bound", &Config::region_bound,
       "with votes: norm to which each example's losses, beside its loss at the start, are cut",
       Constraint::positive()},
      {"server_descent", &Config::server_descent,
       "SGD on the union of the sets, in batches, or steps along the mean of their gradients weighted by "
       "examples (Equation 14)",
       Constraint::one_of({"union", "weighted"})},
      {"server_calibration", &Config::server_calibration,
       "clients send how long the gradient of their examples is in each tensor, and the server stretches the "
       "gradient of their images to that (Equation 20); needs server_descent = \"weighted\""},
  }
      .extends(fedarena::SetTraining::schema())
      .extends(ImageTraining::schema())
      .extends(SyntheticSets::schema())
      .extends(GradientMatching::schema())
      .extends(RateSchedule::schema());
}

void Config::validate() const {
  fedarena::Augmentation::validate(augmentation);
  if (server_calibration && server_descent != "weighted") {
    throw fedarena::Error(fedarena::Complaint{
        .found = "server_calibration is true, but server_descent is \"" + server_descent + "\"",
        .allowed = "server_descent = \"weighted\"",
        .remedy = "calibration needs the gradient of each client's images by itself; set server_descent, or "
                  "leave server_calibration out"});
  }
}

Schema<PrivateConfig> PrivateConfig::schema() { return Schema<PrivateConfig>{}.extends(Config::schema()); }

}  // namespace fedlap
