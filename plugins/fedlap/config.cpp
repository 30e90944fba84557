#include "config.hpp"

#include <fedarena/augmentation.hpp>

namespace fedlap {

using fedarena::Constraint;
using fedarena::Schema;

Schema<Config> Config::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  return Schema<Config>{
      {"images_per_class", &Config::images_per_class, "synthetic images of each class on a client", count},
      {"classes", &Config::classes,
       "classes of a client's synthetic images: those that it holds (asking for them is an exact access "
       "unless "
       "the privacy policy has public_classes) or all",
       Constraint::one_of({"held", "all"})},
      {"image_init", &Config::image_init,
       "what synthetic images start as: a client's own examples (an exact access) or standard normal noise",
       Constraint::one_of({"real", "noise"})},
      {"carry_images", &Config::carry_images,
       "start from the images of the client's last round, where it has some"},
      {"image_encoding", &Config::image_encoding,
       "pixels on the wire; uint8: the range of a client's images in 255 steps",
       Constraint::one_of({"float32", "uint8"})},
      {"trajectories", &Config::trajectories, "R_i: walks from the global model in a round", count},
      {"outer_steps", &Config::outer_steps, "points on each walk; it ends earlier where it leaves the radius",
       count},
      {"real_batches", &Config::real_batches, "gradients of real batches at each point", count},
      {"image_updates", &Config::image_updates, "R_b: updates of the images for each of them", count},
      {"model_steps", &Config::model_steps, "R_l: steps of the local model on its images from point to point",
       Constraint::between(0, 1'000'000)},
      {"batch_size", &Config::batch_size, "examples in a real batch; 0: the whole shard",
       Constraint::between(0, 10'000'000)},
      {"image_rate", &Config::image_rate, "learning rate of the images", Constraint::positive()},
      {"image_momentum", &Config::image_momentum, "momentum of the images' SGD, which starts anew each round",
       Constraint::between(0, 1)},
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
       "what clients measure r_k by: the least loss of their examples (an exact access), or the last point "
       "where "
       "the gradients of examples and images still agree in direction",
       Constraint::one_of({"loss", "gradient"})},
      {"server_epochs", &Config::server_epochs, "passes of the server over the synthetic sets, at most",
       count},
      {"server_descent", &Config::server_descent,
       "SGD on the union of the sets, in batches, or steps along the mean of their gradients weighted by "
       "examples (Equation 14)",
       Constraint::one_of({"union", "weighted"})},
      {"server_batch_size", &Config::server_batch_size, "synthetic images in a batch of the union", count},
  }
      .extends(GradientMatching::schema())
      .extends(RateSchedule::schema());
}

void Config::validate() const { fedarena::Augmentation::validate(augmentation); }

Schema<PrivateConfig> PrivateConfig::schema() { return Schema<PrivateConfig>{}.extends(Config::schema()); }

}  // namespace fedlap
