#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

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
    const std::atomic<bool>& stop;  ///< set on Ctrl-C: evaluations then throw Interrupted
    /// Each client's test examples, or nullptr when clients are not tested; a client may have none.
    const Partition* client_tests = nullptr;
    std::vector<std::int64_t> held_out = {};  ///< those of them that validate, ascending
    std::function<InputSkew(std::int64_t client)> test_skew =
        {};  ///< what a client's test inputs are changed by; empty: nothing
  };

  explicit Evaluator(Setting setting) : setting_(std::move(setting)) {}

  /// What is scored by itself: examples [begin, end) of the test or the validation set, or all test examples
  /// of a client.
  struct Piece {
    enum class Of : std::uint8_t { kTest, kValidation, kClient };
    Of of = Of::kTest;
    std::int64_t begin = 0, end = 0;
    std::int64_t client = -1;  ///< kClient
  };
  /// All there is to score, in order; micro-batches, so that nothing depends on how they are shared out.
  std::vector<Piece> pieces() const;
  /// The test set is read as it is, a client's examples as the client sees them. Called from several threads.
  Score score(const Params& params, const Piece& piece) const;
  /// Writes the scores of all pieces into the record. `personal`: clients were tested with models of their
  /// own. Of clients that validate, the validation scores are the means, each client counting alike; the
  /// numbers of clients are those of the others.
  void write(const std::vector<Piece>& pieces, const std::vector<Score>& scores, bool personal,
             results::RoundRecord& record) const;
  /// The clients that have test examples, ascending; none when clients are not tested.
  std::vector<std::int64_t> tested_clients() const;

 private:
  results::ClientScore client_score(std::int64_t client, const Score& sums) const;

  Setting setting_;
};

}  // namespace fedarena
