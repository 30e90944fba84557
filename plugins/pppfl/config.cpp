#include "config.hpp"

namespace pppfl {

using namespace fedarena;

Schema<Config> Config::schema() {
  const Constraint count = Constraint::between(1, 10'000'000);
  return Schema<Config>{
      {"aggregation", &Config::aggregation,
       "what clients send after their steps: the gradient on the synthetic examples that they held back "
       "(meta), or the change of the model, which the server averages as FedAvg does",
       Constraint::one_of({"meta", "average"})},
      {"most_examples", &Config::most_examples,
       "synthetic examples that a client trains on, at most; else as many as it holds real ones", count},
      {"inner_rate", &Config::inner_rate, "rate of a client's Adam on synthetic examples",
       Constraint::positive()},
      {"inner_epochs", &Config::inner_epochs,
       "passes over the synthetic examples before a client's gradient is taken", count},
      {"batch_size", &Config::batch_size, "examples in a batch, synthetic or real; 0: all at once",
       Constraint::between(0, 10'000'000)},
      {"start_average", &Config::start_average,
       "share of the new global model in the moving average that a client starts from; 1: all of it",
       Constraint::between(0, 1)},
      {"server_rate", &Config::server_rate,
       "first rate of the server's Adam in a cycle; 0: clients adapt the initial model, each by itself",
       Constraint::at_least(0)},
      {"cycles", &Config::cycles, "times that the server's rate falls from there along a cosine", count},
      {"weights", &Config::weights,
       "weights of the clients' gradients: alike, or the softmax of their budgets over the temperature",
       Constraint::one_of({"uniform", "budget"})},
      {"temperature", &Config::temperature, "the larger, the less a large budget counts",
       Constraint::positive()},
      {"adapt_on", &Config::adapt_on,
       "examples that make the global model a client's own: real ones (the model stays on the client), the "
       "client's synthetic ones, or nothing",
       Constraint::one_of({"real", "synthetic", "nothing"})},
      {"personal_epochs", &Config::personal_epochs, "passes over those examples",
       Constraint::between(0, 10'000)},
      {"personal_rate", &Config::personal_rate, "rate of Adam on them", Constraint::positive()},
  }
      .extends(Generators::schema());
}

}  // namespace pppfl
