#pragma once

#include <cstdint>
#include <string>

#include "fedarena/local_training.hpp"

namespace fedarena {

/// How clients count in means of what they send: derive your Config from it, or from ModelAveraging, which
/// has it.
struct FEDARENA_API Weighting {
  std::string weighting = "examples";

  static Schema<Weighting> schema();

  bool by_examples() const { return weighting == "examples"; }
};

/// The hyper-parameters of methods whose server averages the clients' models: derive your Config from it.
struct FEDARENA_API ModelAveraging : LocalTraining, Weighting {
  double server_rate = 1.0;

  static Schema<ModelAveraging> schema();
};

/// Entries of the messages below: the global model on the way down, its change and the number of examples on
/// the way up.
inline constexpr Key<Params> kModel{"model"};
inline constexpr Key<Params> kUpdate{"update"};
inline constexpr Key<std::int64_t> kExamples{"examples"};

/// What a client sends after it trained `start` to `trained`.
FEDARENA_API Message update_message(const Client& client, const Params& start, const Params& trained);

/// Mean of an entry over the cohort: weighted by each message's kExamples, or all alike.
FEDARENA_API Params weighted_mean(const Uplink& uplink, Key<Params> key, const Weighting& weighting);

/// Global model += server_rate * mean of the updates, weighted by examples or all alike.
FEDARENA_API void average_updates(Server& server, const Uplink& uplink, const ModelAveraging& config);

}  // namespace fedarena
