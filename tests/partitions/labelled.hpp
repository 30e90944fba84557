#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/stream.hpp"

#include "partitions/partition.hpp"
#include "partitions/statistics.hpp"

namespace fedarena {

/// Labels together with the view of them that partitions take.
class Labelled {
 public:
  Labelled(std::vector<std::int64_t> labels, std::int64_t classes)
      : labels_(std::move(labels)), classes_(classes) {}

  /// 0, 1, ..., classes - 1, 0, 1, ...: every class with the same number of examples.
  static Labelled balanced(std::int64_t classes, std::int64_t examples_of_each) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < classes * examples_of_each; ++i) labels.push_back(i % classes);
    return {std::move(labels), classes};
  }

  /// Labels drawn at random.
  static Labelled random(std::int64_t classes, std::int64_t examples, Stream& stream) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < examples; ++i) {
      labels.push_back(static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(classes))));
    }
    return {std::move(labels), classes};
  }

  PartitionInput input() const {
    return {.labels = labels_, .examples = static_cast<std::int64_t>(labels_.size()), .classes = classes_};
  }

 private:
  std::vector<std::int64_t> labels_;
  std::int64_t classes_;
};

/// An integer setting; spares the casts that Value needs.
inline std::pair<std::string, Value> setting(std::string name, std::int64_t value) {
  return {std::move(name), Value(value)};
}

/// How many examples of each class each client gets: [client][class].
inline std::vector<std::vector<std::int64_t>> class_counts(const std::string& kind, const Settings& settings,
                                                           const Labelled& data, std::uint64_t seed) {
  return partition_statistics(make_partition(kind, settings, data.input(), seed), data.input()).class_counts;
}

}  // namespace fedarena
