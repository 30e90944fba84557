#include "fedarena/model_averaging.hpp"

namespace fedarena {

Schema<ModelAveraging> ModelAveraging::schema() {
  return Schema<ModelAveraging>{
      {"server_rate", &ModelAveraging::server_rate, "server learning rate", Constraint::positive()},
      {"weighting", &ModelAveraging::weighting,
       "weights of the clients in the average: by examples, or all alike",
       Constraint::one_of({"examples", "uniform"})},
  }
      .extends(LocalTraining::schema());
}

Message update_message(const Client& client, const Params& start, const Params& trained) {
  return {{kUpdate, trained - start}, {kExamples, client.oracle.size()}};
}

void average_updates(Server& server, const Uplink& uplink, const ModelAveraging& config) {
  const bool by_examples = config.weighting == "examples";
  const Params mean = by_examples ? uplink.mean(kUpdate, kExamples) : uplink.mean(kUpdate);
  server.params.add_scaled(config.server_rate, mean);
}

}  // namespace fedarena
