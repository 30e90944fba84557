#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fedarena/accounting/account.hpp"
#include "fedarena/model_averaging.hpp"

#include "harness/config/grid/grid.hpp"
#include "harness/loader/plugin_host.hpp"
#include "harness/simulation/simulation.hpp"
#include "results/record/run_directory.hpp"
#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena {

using test::Scratch;

/// An algorithm as a plugin would write it, mistake included. Left empty, `train_with` trains nothing and
/// `aggregate_with` adds the mean update to the model.
class Exhibit final : public Algorithm {
 public:
  using Training = std::function<Params(Client&, const Params& start)>;  ///< returns the trained parameters
  using Aggregation = std::function<void(Server&, const Uplink&)>;

  explicit Exhibit(Training train_with = {}, Aggregation aggregate_with = {})
      : train_with_(std::move(train_with)), aggregate_with_(std::move(aggregate_with)) {}

  Message broadcast(const Server& server) const override { return {{kModel, server.params}}; }
  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    return update_message(client, start, train_with_ ? train_with_(client, start) : start);
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    if (aggregate_with_) return aggregate_with_(server, uplink);
    server.params += uplink.mean(kUpdate);
  }

 private:
  Training train_with_;
  Aggregation aggregate_with_;
};

/// Trains by that many steps of that rate on batches of that size.
Exhibit::Training sgd(std::int64_t steps, std::int64_t batch_size, double rate = 0.01);

/// A classification in double precision whose label tells the sign of the first of three features, and the
/// clients that hold its examples.
struct Federation {
  explicit Federation(const std::vector<std::int64_t>& shard_sizes,
                      const std::vector<Layer>& layers = {Linear{3, 2}});

  /// All clients in every round, tested after the last; tests change what they are about.
  SimulationSetup setup(const Algorithm& algorithm, const PrivacyPolicy& policy,
                        std::int64_t rounds = 1) const;

  Dataset dataset;
  Partition partition;
  Model model;
  WorkPool pool{2, use_one_torch_thread};
  std::atomic<bool> stop = false;
};

/// Every plugin of the build tree, loaded once.
const PluginHost& plugins();

/// Runs all rounds that are left; returns the epsilon of the last one.
double finish(Simulation& simulation);

/// RDP epsilon of that many equal steps of the Poisson-sampled Gaussian mechanism.
double poisson_epsilon(double noise_multiplier, double rate, std::int64_t steps, double delta = 1e-5);

/// What a run of that ledger claims under that policy.
results::PrivacyClaim claim_of(const Ledger& ledger, const std::string& policy,
                               const AccountSettings& settings);

/// An experiment of two private algorithms, as a file has it. `privacy`: further lines of its [privacy].
std::string experiment_text(const std::string& privacy = "");

/// The points of an experiment file of that text, where everything can be chosen that the program has.
std::vector<GridPoint> grid_of(const std::string& text, const std::vector<std::string>& overrides = {});

/// Runs all of a simulation's rounds and records them in that folder as the program does, for an algorithm
/// "NAME" of a plugin "NAME-plugin" under that policy.
results::RunDirectory record(const std::filesystem::path& folder, Simulation& simulation, std::int64_t rounds,
                             const std::string& name, const std::string& policy);

}  // namespace fedarena
