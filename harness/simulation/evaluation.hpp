#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "fedarena/base/pool.hpp"
#include "fedarena/params.hpp"

#include "datasets/dataset.hpp"
#include "harness/gradients/engine/gradients.hpp"
#include "harness/oracle/example_reader.hpp"
#include "partitions/partition.hpp"
#include "results/record/record.hpp"

namespace fedarena {

/// Tests a model on all test examples, on those held out for validation, and on each client's test examples.
/// References must outlive it.
class Evaluator {
 public:
  struct Setting {
    const Dataset& dataset;
    const ExampleReader& reader;
    const GradientEngine& engine;
    const WorkPool& pool;
    const std::atomic<bool>& stop;  ///< set on Ctrl-C: evaluations then throw Interrupted
    /// Each client's test examples, or nullptr when clients are not tested; a client may have none.
    const Partition* client_tests = nullptr;
    std::vector<std::int64_t> held_out = {};  ///< those of them that validate, ascending
    std::function<InputSkew(std::int64_t client)> test_skew =
        {};  ///< what a client's test inputs are changed by; empty: nothing
  };

  explicit Evaluator(Setting setting) : setting_(std::move(setting)) {}

  /// The model that a client is tested with. Called from several threads, once for each client.
  using PersonalModel = std::function<Params(std::int64_t client)>;

  /// Writes into the record what the model does on all of them. The test set as a whole is read as it is, a
  /// client's examples as the client sees them; there the client's own model counts, where there is one.
  /// Of clients that validate, the validation scores are the means, each client counting alike; the numbers
  /// of clients are those of the others.
  void evaluate(const Params& params, results::RoundRecord& record, const PersonalModel& personal = {}) const;
  /// The clients that have test examples, ascending; none when clients are not tested.
  std::vector<std::int64_t> tested_clients() const;

 private:
  Score score(const Params& params, const Examples& examples) const;
  Score sums_of(const Params& params, std::int64_t client) const;
  results::ClientScore client_score(std::int64_t client, const Score& sums) const;

  Setting setting_;
};

}  // namespace fedarena
