#include "fedarena/model_averaging.hpp"

namespace fedarena {

Schema<Weighting> Weighting::schema() {
  return {{"weighting", &Weighting::weighting,
           "weights of the clients in the average: by examples, or all alike",
           Constraint::one_of({"examples", "uniform"})}};
}

Schema<ModelAveraging> ModelAveraging::schema() {
  return Schema<ModelAveraging>{
      {"server_rate", &ModelAveraging::server_rate, "server learning rate", Constraint::positive()}}
      .extends<Weighting, LocalTraining>();
}

Message update_message(const Client& client, const Params& start, const Params& trained) {
  return {{kUpdate, trained - start}, {kExamples, client.oracle.size()}};
}

Params weighted_mean(const Uplink& uplink, Key<Params> key, const Weighting& weighting) {
  return weighting.by_examples() ? uplink.mean(key, kExamples) : uplink.mean(key);
}

void average_updates(Server& server, const Uplink& uplink, const ModelAveraging& config) {
  server.params.add_scaled(config.server_rate, weighted_mean(uplink, kUpdate, config));
}

}  // namespace fedarena
