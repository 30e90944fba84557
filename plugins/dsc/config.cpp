#include "config.hpp"

namespace dsc {

using namespace fedarena;

Schema<Config> Config::schema() {
  const Constraint count = Constraint::between(1, 1'000'000);
  const Constraint share = Constraint::between(0, 1);
  return Schema<Config>{
      {"initialisations", &Config::initialisations,
       "K: random models that the images are matched on, in turn", count},
      {"outer_steps", &Config::outer_steps, "T: points on the way of each model, at which images take a step",
       count},
      {"model_epochs", &Config::model_epochs, "passes of the model over the images from point to point",
       Constraint::between(0, 1'000'000)},
      {"rate", &Config::rate, "learning rate of the models", Constraint::positive()},
      {"set_batch_size", &Config::set_batch_size, "synthetic images in a batch that models train on", count},
      {"momentum", &Config::momentum, "momentum of the client's models", share},
      {"server_epochs", &Config::server_epochs,
       "passes of the server's model over the images; the second half at a tenth of the rate", count},
      {"server_momentum", &Config::server_momentum, "momentum of the server's model", share},
      {"server_weight_decay", &Config::server_weight_decay, "weight decay of the server's model",
       Constraint::at_least(0)},
  }
      .extends(ClassMatching::schema())
      .extends(ImageTraining::schema())
      .extends(SyntheticSets::schema())
      .extends(GradientMatching::schema());
}

}  // namespace dsc
