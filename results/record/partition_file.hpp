#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/run_directory.hpp"

namespace fedarena::results {

/// Who holds how many examples of which class, and what identifies the partition.
struct RecordedPartition {
  std::string id = {};  ///< kind, settings and seed
  std::string kind = {};
  std::string dataset = {};
  std::int64_t seed = 0;
  std::string index_hash = {};             ///< of who holds which example, 16 digits
  std::vector<std::int64_t> sizes = {};    ///< examples of each client
  std::vector<double> label_entropy = {};  ///< of each client, in nats; empty without classes
  std::vector<std::vector<std::int64_t>> class_counts = {};  ///< [client][class]; empty without classes
  std::vector<std::int64_t> held_out = {};                   ///< clients that never train, ascending
  std::vector<double> noise = {};            ///< on each client's inputs; empty where inputs stay as they are
  std::vector<std::int64_t> rotations = {};  ///< of each client's inputs, in degrees; likewise

  bool operator==(const RecordedPartition&) const = default;
};

/// Whether partitions of that kind deal examples by their labels: who holds which ones, and how many, then
/// tells of labels.
bool deals_by_labels(std::string_view kind);

/// What an epsilon under that policy takes as public where examples of that data set were dealt by a
/// partition of that kind, because an example's neighbour would be dealt otherwise; or empty.
std::string public_deal(std::string_view policy, std::string_view dataset, std::string_view kind);

/// The JSON text of `partition.json`, one line. What could not be read back is a Bug.
std::string to_json_text(const RecordedPartition& partition);

/// Reads such a text. Anything but a whole, valid card is an Error that names `file` and the field. Whether
/// the numbers agree with each other is for `fedarena verify` to say.
RecordedPartition parse_partition(std::string_view text, const std::string& file);

/// That of a run; none in older records.
std::optional<RecordedPartition> read_partition(const RunDirectory& run);

/// Entropy of a client's labels in nats; 0 where it has no examples. `counts` are not negative.
double label_entropy(const std::vector<std::int64_t>& counts);

}  // namespace fedarena::results
