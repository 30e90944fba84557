#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "fedarena/model.hpp"

#include "harness/runner/plan/experiment_data.hpp"
#include "harness/runner/plan/host_memory.hpp"
#include "partitions/card.hpp"
#include "results/record/partition_file.hpp"

namespace fedarena {

/// How the examples of an experiment are dealt under one seed.
struct PartitionedData {
  Partition partition;
  PartitionCard card;
  Partition client_tests;  ///< each client's test examples; empty unless the experiment tests clients
  bool tests_tell_label_counts = false;  ///< of the clients' training examples
  bool tests_are_of_clients = false;     ///< who are the data set's users, tested one by one or not
};

/// What cells share, each made when it is first asked for: data sets and models once, partitions for as long
/// as a cell holds one and a little longer. Safe to call from several threads.
class SharedInputs {
 public:
  /// With the validation examples that the experiment holds out. Throws Error when it is not there.
  const Dataset& dataset(const Experiment& experiment);
  /// The server's public inputs as the model takes them, as many as the experiment asks for; undefined where
  /// there are none. Throws Error when they are not there or do not fit the data set.
  torch::Tensor proxy(const Experiment& experiment);
  /// The share of the server's public inputs, as they are in files, that are among the training or validation
  /// examples.
  double known_proxies(const Experiment& experiment);
  /// The data set's `data_hash`; with proxy data a hash of both.
  const std::string& data_hash(const Experiment& experiment);
  /// Throws Error when it does not fit the data, or its device is not there.
  const Model& model(const Experiment& experiment);
  /// What the model begins from in place of weights that a seed draws, or nullptr. Throws Error when it is
  /// not there, or does not fit the model.
  const Params* initial_weights(const Experiment& experiment);
  /// Throws Error when the examples cannot be dealt so.
  std::shared_ptr<const PartitionedData> dealt(const Experiment& experiment, std::int64_t seed);
  /// Bytes of all data sets.
  std::int64_t data_bytes() const;

  /// From now on, data are loaded into memory from which other processes of this host can take them.
  void hand_on();
  /// By what the others take an experiment's data; empty where nothing is handed on. Loads them.
  Bytes for_host(const Experiment& experiment);
  /// Takes an experiment's data from who said so for_host(). What cannot be taken is loaded when it is asked
  /// for. Data sets that these replace must not be in use.
  void take(const Experiment& experiment, std::span<const std::byte> from_host);

 private:
  // What the cache has under `key`, made now if it has nothing.
  template <typename T, typename Make>
  T& made(std::map<std::string, T>& cache, const std::string& key, const Make& make);
  torch::Tensor stored_proxy(const Experiment& experiment);
  std::string address_of(const std::string& key) const;
  // The memory of that address, unless it is the one that is known; false where there is none.
  bool find(const std::string& key, const std::string& address,
            const std::function<void(const HostMemory&)>& use);

  std::recursive_mutex mutex_;
  std::map<std::string, Dataset> datasets_;
  std::map<std::string, torch::Tensor> stored_proxies_,
      proxies_;  // as they are in files, as models take them
  std::map<std::string, std::string> data_hashes_;
  std::map<std::string, double> known_proxies_;
  bool hands_on_ = false;
  std::map<std::string, HostMemory> host_memories_;  // data sets and proxies, by their keys
  std::map<std::string, std::unique_ptr<const Model>> models_;
  std::map<std::string, Params> initial_weights_;
  std::map<std::string, std::weak_ptr<const PartitionedData>> dealt_;
  std::deque<std::shared_ptr<const PartitionedData>> recent_;
};

/// Those of `clients` clients that never train under that seed, ascending.
std::vector<std::int64_t> held_out_clients(const Experiment& experiment, std::int64_t seed,
                                           std::int64_t clients);

/// What a run directory records of the partition that an experiment deals under `seed`; `card` is its card.
results::RecordedPartition recorded_partition(const Experiment& experiment, std::int64_t seed,
                                              const PartitionCard& card);

}  // namespace fedarena
